"""The addresses of the chat: design of the HTTP contract in one screen."""

from django.urls import path

from .views import (
    conversations,
    feedback,
    health,
    listing,
    messages,
    models,
    pages,
    readings,
    runs,
    settings,
    source,
    versions,
)

app_name = "chat"
urlpatterns = [
    path("", pages.home, name="home"),
    path("c/", messages.begin, name="new"),
    path("c/<uuid:conversation>/", pages.conversation, name="conversation"),
    path("c/<uuid:conversation>/messages/", messages.send, name="send"),
    path("c/<uuid:conversation>/rename/", conversations.rename, name="rename"),
    path("c/<uuid:conversation>/settings/", conversations.settings, name="settings"),
    path("c/<uuid:conversation>/seen/", conversations.seen, name="seen"),
    path("c/<uuid:conversation>/delete/", conversations.delete, name="delete"),
    path("c/<uuid:conversation>/undelete/", conversations.undelete, name="undelete"),
    path("conversations/", listing.conversations, name="list"),
    path("models/", models.choice, name="models"),
    path("messages/<uuid:message>/edit/", messages.edit, name="edit"),
    path("messages/<uuid:message>/regenerate/", messages.regenerate, name="regenerate"),
    path("messages/<uuid:message>/continue/", messages.go_on, name="continue"),
    path("messages/<uuid:message>/select/", versions.select, name="select"),
    path("messages/<uuid:message>/feedback/", feedback.feedback, name="feedback"),
    path("messages/<uuid:message>/source/", source.source, name="source"),
    path("runs/<uuid:run>/stream/", runs.stream, name="stream"),
    path("runs/<uuid:run>/stop/", runs.stop, name="stop"),
    path("readings/", readings.readings, name="readings"),
    path("settings/", settings.settings, name="preferences"),
    path("healthz", health.alive, name="healthz"),
    path("readyz", health.ready, name="readyz"),
]

"""The addresses of the chat: design of the HTTP contract in one screen."""

from django.urls import path

from .views import conversations, health, messages, pages, runs

app_name = "chat"
urlpatterns = [
    path("", pages.home, name="home"),
    path("c/", messages.begin, name="new"),
    path("c/<uuid:conversation>/", pages.conversation, name="conversation"),
    path("c/<uuid:conversation>/messages/", messages.send, name="send"),
    path("c/<uuid:conversation>/delete/", conversations.delete, name="delete"),
    path("runs/<uuid:run>/stream/", runs.stream, name="stream"),
    path("runs/<uuid:run>/stop/", runs.stop, name="stop"),
    path("healthz", health.alive, name="healthz"),
    path("readyz", health.ready, name="readyz"),
]

"""Preferences: a person's own settings, the same on every device."""

from typing import Any, Self

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.db.executor import write_lock

MAX_GENERAL_INSTRUCTIONS_CHARS = 10_000  # code points
SITE_DEFAULT = "default"  # in place of a model's id; "" means the same
# Allowed values of the preferences with a fixed choice, the default first.
PREFERENCE_CHOICES = {
    "theme": ("system", "light", "dark"),
    "text_size": ("normal", "small", "large", "larger"),
    "announce": ("finished", "blocks", "off"),
    "enter": ("sends", "line"),
}
MAX_FAVOURITES = 100
# Those of the section “General”.
SHORT_PREFERENCES = (*PREFERENCE_CHOICES, "language", "time_zone", "model", "web_search")
# Read together with the user: in the order of the model, as `from_db` takes them.
READ_COLUMNS = ("user_id", *SHORT_PREFERENCES, "memory")


class PreferencesQuerySet(models.QuerySet["Preferences"]):
    def save_choices(self, user: Any, chosen: dict[str, Any], first: dict[str, str]) -> "Preferences":
        """Store the person's choices. `first`: the others' values if the person has no row yet."""
        stamped = chosen | {"updated": timezone.now()}
        with write_lock(), transaction.atomic():
            row, _created = self.update_or_create(
                user=user, defaults=stamped, create_defaults=first | stamped
            )
        return row

    def set_favourite(self, user: Any, model: str, favourite: bool, first: dict[str, str]) -> list[str]:
        """Add a model to the person's favourites, or remove it. Return all, the newest last."""
        with write_lock(), transaction.atomic():
            self.get_or_create(user=user, defaults=first)
            row = self.select_for_update().get(user=user)
            others = [each for each in row.favourites if each != model]
            row.favourites = [*others, model][-MAX_FAVOURITES:] if favourite else others
            row.save(update_fields=["favourites"])
        return row.favourites


class Preferences(models.Model):
    """One person's preferences, created when they first save some.

    An empty `language` or `time_zone` is the browser's. `model` answers new conversations. `instructions` go
    before the system prompt of each of the person's conversations. `favourites` are ids of models, some of
    which may have retired since. `memory`: models are told the person's memories. `web_search`: new
    conversations begin with the web search switched on.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="preferences"
    )
    theme = models.CharField(max_length=10, default="system")
    text_size = models.CharField(max_length=10, default="normal")
    announce = models.CharField(max_length=10, default="finished")
    enter = models.CharField(max_length=10, default="sends")
    language = models.CharField(max_length=20, default="", blank=True)
    time_zone = models.CharField(max_length=64, default="", blank=True)
    model = models.CharField(max_length=200, default="", blank=True)
    web_search = models.BooleanField(default=False, db_default=False)
    instructions = models.TextField(default="", blank=True)
    favourites = models.JSONField(default=list, db_default=[], blank=True)
    memory = models.BooleanField(default=True, db_default=True)
    updated = models.DateTimeField(default=timezone.now)

    objects = PreferencesQuerySet.as_manager()
    _has_instructions: bool | None = None  # known without having read them

    class Meta:
        verbose_name = verbose_name_plural = _("preferences")
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.user_id)

    @property
    def has_instructions(self) -> bool:
        if self._has_instructions is None:
            return bool(self.instructions)
        return self._has_instructions

    @classmethod
    def of(cls, user: Any) -> "Self | None":
        """Return the user's row, None if there is none. For a session's user this takes no further query."""
        return getattr(user, "preferences", None)

    @classmethod
    def attach(cls, user: Any) -> None:
        """Make the columns that `JOINED_COLUMNS_SQL` selects with a user into their preferences."""
        columns = [vars(user).pop(f"preferences_{name}") for name in READ_COLUMNS]
        instructed = vars(user).pop("preferences_instructed")
        row = None
        if columns[0] is not None:
            row = cls.from_db(user._state.db, READ_COLUMNS, columns)
            row._has_instructions = bool(instructed)
        user._state.fields_cache["preferences"] = row


JOINED_COLUMNS_SQL = ", ".join(f"p.{name} AS preferences_{name}" for name in READ_COLUMNS) + (
    ", p.instructions <> '' AS preferences_instructed"
)
"""The columns of the table `p` for `Preferences.attach`."""

"""The site itself: its name, colour and picture, and the Cloudflare account connected in it."""

import hashlib
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from chat.db.executor import write_lock
from chat.limits import MAX_SITE_NAME_CHARS

from .site_model import CatalogState

VERSION_CHARS = 16


@dataclass(frozen=True, slots=True)
class Identity:
    """The part of the site's identity that every page shows; the fields are those of `Site`."""

    name: str = ""
    colour: str = ""
    picture_version: str = ""

    @property
    def version(self) -> str:
        """A name for this identity, for the address of what is made of it; "" for the usual one."""
        if self == Identity():
            return ""
        written = "\0".join((self.name, self.colour, self.picture_version))
        return hashlib.sha256(written.encode()).hexdigest()[:VERSION_CHARS]


_identity = Identity()


def identity() -> Identity:
    """Return the site's identity as this process has read it last. It asks nothing of the database."""
    return _identity


class SiteManager(models.Manager["Site"]):
    def one(self: Self) -> "Site":
        """Return the row, or an unsaved one, without the bytes of the picture."""
        row = self.defer("icon", "picture").select_related("connected_by").filter(pk=Site.ONLY).first()
        return row or Site()

    def load_identity(self: Self) -> Identity:
        """Read the identity from the database, for `identity`."""
        global _identity
        found = self.filter(pk=Site.ONLY).values_list("name", "colour", "picture_version").first()
        _identity = Identity(*found) if found else Identity()
        return _identity

    def store(self: Self, **fields: Any) -> None:
        """Set these fields. Each process reads them with its next look at the models."""
        with write_lock(), transaction.atomic():
            self.update_or_create(pk=Site.ONLY, defaults=fields)
            CatalogState.objects.bump_version()
        self.load_identity()


class Site(models.Model):
    """The site's settings of the administration, in at most one row.

    `colour` is "" for the usual one. `icon` and `picture` are squares of the same picture, for tabs and
    for an installed app; `picture_version` is "" without one. `cloudflare_token` is sealed, see
    `chat/catalog/account.py`; "" if no account is connected here.
    """

    ONLY = 1

    class Colour(models.TextChoices):
        """The colours of `static/css/tokens.css`, which makes of each one that can be read."""

        PETROL = "", _("Petrol")
        INK = "ink", _("Ink blue")
        PLUM = "plum", _("Plum")
        BERRY = "berry", _("Berry")
        RUST = "rust", _("Rust")
        MOSS = "moss", _("Moss")
        GRAPHITE = "graphite", _("Graphite")

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY, editable=False)
    name = models.CharField(_("name"), max_length=MAX_SITE_NAME_CHARS, default="", blank=True)
    colour = models.CharField(_("color"), max_length=8, choices=Colour, default="", blank=True)
    icon = models.BinaryField(null=True, editable=False)
    picture = models.BinaryField(null=True, editable=False)
    picture_version = models.CharField(max_length=VERSION_CHARS, default="", editable=False)
    cloudflare_account = models.CharField(max_length=64, default="", editable=False)
    cloudflare_token = models.TextField(default="", editable=False)
    connected_at = models.DateTimeField(null=True, editable=False)
    connected_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, editable=False, related_name="+"
    )

    objects: ClassVar[SiteManager] = SiteManager()

    class Meta:
        verbose_name, verbose_name_plural = _("site"), _("site")
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=Q(id=1), name="site_only_one")]

    def __str__(self) -> str:
        return self.name or str(_("Chat"))

"""Shared links: public read-only pages of one branch of a conversation."""

import uuid
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.limits import TITLE_LENGTH

from .digest import digest_of, new_secret

TOKEN_LENGTH = 43  # characters of that many bytes in base64


class SharedLinkQuerySet(models.QuerySet["SharedLink"]):
    def owned_by(self, user: Any) -> Self:
        return self.filter(leaf__conversation__user_id=user.pk)

    def valid(self) -> Self:
        """Return the links that open now: not expired, of an active user, with no message deleted.

        A deleted message takes all below it along, so the last message tells about the whole branch.
        """
        if settings.SHARING == "off":
            return self.none()
        in_time = Q(expires__gt=timezone.now())
        if settings.SHARING == "permanent":
            in_time |= Q(expires=None)
        return self.filter(
            in_time,
            leaf__deleted=None,
            leaf__conversation__deleted=None,
            leaf__conversation__user__is_active=True,
        )

    def by_token(self, token: str) -> "SharedLink | None":
        """Return the valid link with this token, with its conversation and user; None if there is none."""
        if len(token) != TOKEN_LENGTH:
            return None
        found = self.valid().select_related("leaf__conversation__user")
        return found.filter(digest=digest_of(token)).first()


class SharedLink(models.Model):
    """A link to the branch that ends with `leaf`. Only the digest of its token is stored.

    The messages before the leaf never change. A leaf that was cut short can be continued, so only its first
    `leaf_length` code points are shared. `title` is that of the branch when it was shared.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    leaf = models.ForeignKey("Message", models.CASCADE, related_name="shared_links", editable=False)
    title = models.CharField(max_length=TITLE_LENGTH, editable=False)
    leaf_length = models.PositiveIntegerField(editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    shows_name = models.BooleanField(_("with the name"), default=False)
    created = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    expires = models.DateTimeField(_("expires"), null=True, blank=True)

    objects = SharedLinkQuerySet.as_manager()

    class Meta:
        default_permissions = ("change",)
        verbose_name, verbose_name_plural = _("shared link"), _("shared links")
        indexes = [models.Index(fields=["created", "id"], name="shared_link_by_created")]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def has_expired(self) -> bool:
        return self.expires is not None and self.expires <= timezone.now()

    def generate_token(self) -> str:
        """Set and return the token of this new link. Only its digest is stored."""
        token = new_secret()
        self.digest = digest_of(token)
        return token

"""Links that hold a secret: to set up the site, to create an account, and to read a shared branch."""

import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self, TypeVar

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from chat.limits import TITLE_LENGTH

from .api_key import digest_of, new_secret
from .citation import Citation
from .step import Step
from .user import User

Dated = TypeVar("Dated", Citation, Step)
VALID_FOR = timedelta(days=7)
TOKEN_LENGTH = 43  # characters of that many bytes in base64


class SetupLinkManager(models.Manager["SetupLink"]):
    def pending(self: Self) -> "SetupLink | None":
        """Return the link while no user exists, however users are created; None afterwards.

        The link is a single row, so every process and every start prints the same one until it is used.
        """
        if User.objects.exists():
            return None
        return self.get_or_create(pk=SetupLink.ONLY, defaults={"token": new_secret()})[0]

    def is_open(self: Self, token: str) -> bool:
        """Return True if `token` could create an administrator now."""
        return "\0" not in token and not User.objects.exists() and self.filter(token=token).exists()

    def claim(self: Self, token: str, username: str, email: str, password: str) -> User | None:
        """Use the link up and create the administrator; None if the token is wrong or used, or a user exists.

        The DELETE is the claim: of two concurrent requests the second waits for the first one's transaction,
        then finds no row.
        """
        with transaction.atomic():
            used, _ = self.filter(token=token).delete()
            if not used or User.objects.exists():
                return None
            return User.objects.create_superuser(username, email, password)


class SetupLink(models.Model):
    """The set-up link, in at most one row.

    The token is stored in plain text, because the next start has to print it again. While no user exists, a
    reader of this table finds nothing else in the database.
    """

    ONLY = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY, editable=False)
    token = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[SetupLinkManager] = SetupLinkManager()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="setup_link_only_one")]

    def __str__(self) -> str:
        return "The set-up link"


class InviteManager(models.Manager["Invite"]):
    def open(self: Self, token: str) -> "models.QuerySet[Invite]":
        """Return a queryset of the invitation with this token; empty if it is unknown, used or expired.

        Also while the account that made it is disabled. No join: in `claim`, `used` must be a condition of
        the UPDATE itself, which PostgreSQL checks again after it waited.
        """
        since = timezone.now() - VALID_FOR
        maker = Q(made_by=None) | Q(made_by__in=User.objects.filter(is_active=True))
        return self.filter(maker, digest=digest_of(token), used=None, created__gt=since)

    def claim(self: Self, token: str, user: User) -> bool:
        """Use the invitation up and store the new `user`; False if it is not open.

        The UPDATE is the claim: of two concurrent requests the second waits for the first one's transaction,
        then finds the invitation used.

        Raises IntegrityError: when the name or the address was taken meanwhile; the invitation stays open.
        """
        with transaction.atomic():
            if not self.open(token).update(used=timezone.now()):
                return False
            user.save(force_insert=True)
            self.filter(digest=digest_of(token)).update(used_by=user)
        return True


class Invite(models.Model):
    digest = models.CharField(max_length=64, unique=True, editable=False)
    note = models.CharField(_("for whom"), max_length=200, default="", blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        verbose_name=_("made by"),
    )
    created = models.DateTimeField(default=timezone.now, editable=False)
    used = models.DateTimeField(null=True, editable=False)
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, editable=False, related_name="+"
    )

    objects: ClassVar[InviteManager] = InviteManager()

    class Meta:
        verbose_name, verbose_name_plural = _("invitation"), _("invitations")

    def __str__(self) -> str:
        return self.note or _("invitation %(number)s") % {"number": self.pk}

    @property
    def expires(self) -> datetime:
        return self.created + VALID_FOR

    @property
    def is_open(self) -> bool:
        maker_is_active = self.made_by is None or self.made_by.is_active
        return self.used is None and timezone.now() < self.expires and maker_is_active

    def generate_token(self) -> str:
        """Set and return the token of this new invitation. Only its digest is stored."""
        token = new_secret()
        self.digest = digest_of(token)
        return token


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

    The token is computed from the id and the site's SECRET_KEY, so that the owner can copy the link again and
    the database alone opens none.

    The messages before the leaf never change. A leaf that was cut short can be continued, so only its first
    `leaf_length` code points are shared. `title` is that of the branch when it was shared.
    `shows_steps`: with the calls of tools.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    leaf = models.ForeignKey("Message", models.CASCADE, related_name="shared_links", editable=False)
    title = models.CharField(max_length=TITLE_LENGTH, editable=False)
    leaf_length = models.PositiveIntegerField(editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    shows_name = models.BooleanField(_("with the name"), default=False)
    shows_steps = models.BooleanField(_("with the steps"), default=False, db_default=False)
    created = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    expires = models.DateTimeField(_("expires"), null=True, blank=True)

    objects = SharedLinkQuerySet.as_manager()

    class Meta:
        default_permissions = ("change",)
        verbose_name, verbose_name_plural = _("shared link"), _("shared links")
        indexes = [models.Index(fields=["created", "id"], name="shared_link_by_created")]

    def __str__(self) -> str:
        return str(self.pk)

    def of_its_time(self, rows: Iterable[Dated]) -> list[Dated]:
        """Return those that were there when the link was created; a continued reply gets more."""
        return [each for each in rows if each.created <= self.created]

    @property
    def has_expired(self) -> bool:
        return self.expires is not None and self.expires <= timezone.now()

    def generate_token(self) -> str:
        """Set and return the token of this new link. Only its digest is stored."""
        token = self._computed(settings.SECRET_KEY)
        self.digest = digest_of(token)
        return token

    @property
    def token(self) -> str:
        """The token; "" for a link that was made in another way, or with a key that the site has no more."""
        computed = (self._computed(key) for key in [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS])
        return next((token for token in computed if digest_of(token) == self.digest), "")

    def _computed(self, key: str | bytes) -> str:
        mac = salted_hmac("chat.models.SharedLink", self.pk.bytes, secret=key, algorithm="sha256")
        return urlsafe_b64encode(mac.digest()).rstrip(b"=").decode()

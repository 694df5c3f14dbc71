"""Who may log in, and how often somebody may try."""

import hashlib
import ipaddress
import logging
from functools import cache
from typing import Any

from asgiref.sync import sync_to_async
from axes.backends import AxesStandaloneBackend
from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import check_password
from django.db.models import Sum
from django.db.models.signals import pre_save
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from chat.models.user import User
from chatsite.proxies import forwarded_for, without_port

ADDRESS_LIMIT = 300  # failed log-ins of all names together from one address, within AXES_COOLOFF_TIME
LONGEST_NAME = 255  # characters; the column of the throttle's table
LOG_IN, CONFIRMATION = "name:", "session:"  # what a failure counts under begins with, by its kind

logger = logging.getLogger(__name__)


class AccountBackend(AxesStandaloneBackend, ModelBackend):
    """Logs in by name or e-mail address, unless there were too many failures."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        """Return the account, or None. With `account`, a person who is signed in confirms their password.

        :raises PermissionDenied: from the throttle; Django's `authenticate` turns it into None, and
            `request.axes_locked_out` says so. A call without a request comes from our own code: no throttle.
        """
        account: User | None = kwargs.get("account")
        if not (username or account) or not password:
            return None
        if request is not None:
            super().authenticate(request, username, password, **kwargs)
        if account is not None:
            # Not by the method of the account: it renews an outdated hash, and that would end this session.
            return account if check_password(password, account.password) else None
        return self._logged_in(username or "", password)

    def _logged_in(self, login: str, password: str) -> User | None:
        accounts = User.objects.all_by_login(login)
        for account in accounts:
            if account.check_password(password) and self.user_can_authenticate(account):
                return account
        if not accounts:
            User().set_password(password)  # an unknown name must cost the time of a known one
        return None

    def get_user(self, user_id: Any) -> User | None:
        """The account of a session, None where it is disabled. Raw: each request asks, and the query compiler
        takes longer than the database."""
        account = next(iter(User.objects.raw("SELECT * FROM chat_user WHERE id = %s", [user_id])), None)
        return account if account is not None and self.user_can_authenticate(account) else None

    async def aauthenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        """The same in a thread: hashing takes 30 ms and the throttle asks the database."""
        return await sync_to_async(self.authenticate)(request, username, password, **kwargs)


class LoginThrottle(AxesDatabaseHandler):
    """Ten failures of one name from one address, or ADDRESS_LIMIT log-ins of all names from that address.

    What is refused without a look at the password counts for nothing, so whoever hammers at one name brings
    the address ten failures and no more. An office behind one address can mistype three hundred times in a
    quarter of an hour; a list of a thousand names with one password each does not get through.
    """

    def is_locked(self, request: Any, credentials: dict[str, Any] | None = None) -> bool:
        """Whether this attempt is refused without a look at the password."""
        if super().is_locked(request, credentials):
            return True
        return not _is_confirmation(credentials) and self._address_is_locked(request)

    def _address_is_locked(self, request: Any) -> bool:
        recent = AccessAttempt.objects.filter(
            ip_address=request.axes_ip_address, attempt_time__gte=timezone.now() - settings.AXES_COOLOFF_TIME
        )
        log_ins = recent.filter(username__startswith=LOG_IN)
        return (log_ins.aggregate(failures=Sum("failures_since_start"))["failures"] or 0) >= ADDRESS_LIMIT


@receiver(pre_save, sender=AccessAttempt)
def keep_nothing_sent(sender: Any, instance: AccessAttempt, **_: Any) -> None:
    """Store of a failed attempt who, from where and when, and no field of the request, whatever its name.

    axes appends all fields to the row but those on a list of names. The fields of a form that changes a
    password hold the new one, in clear text.
    """
    instance.get_data = instance.post_data = ""


def _is_confirmation(credentials: dict[str, Any] | None) -> bool:
    return bool(credentials and credentials.get("account"))


def lockout_parameters(request: Any, credentials: dict[str, Any] | None = None) -> list[Any]:
    """A session wherever it is used from; a name only from one address, else anybody could lock it out."""
    return ["username"] if _is_confirmation(credentials) else [["username", "ip_address"]]


def throttled_name(request: HttpRequest | None, credentials: dict[str, Any] | None) -> str:
    """Under which name a failure counts: an account's own, whichever of its names was typed.

    It begins with the kind of the attempt, so no name that is typed passes for another kind.

    Otherwise every spelling of an e-mail address would bring ten more tries. A confirmation counts for its
    session, of which only a hash is kept.
    """
    if request is not None and _is_confirmation(credentials):
        key = request.session.session_key or ""
        return CONFIRMATION + hashlib.sha256(key.encode()).hexdigest()
    login = str((credentials or {}).get("username") or "").replace("\0", "")
    account = User.objects.by_login(login)
    return (LOG_IN + (account.username if account else login).lower())[:LONGEST_NAME]


def forget_failures(request: HttpRequest, account: User) -> None:
    """What this session failed before its person confirmed the right password."""
    AccessAttempt.objects.filter(username=throttled_name(request, {"account": account})).delete()


def client_address(request: HttpRequest) -> str | None:
    """The address that failures count for.

    Behind TRUSTED_PROXY proxies of our own it is what the outermost of them saw. Without a proxy the header
    is the client's invention, and only the socket counts. Of an IPv6 address the first 64 bits count, because
    a household owns all the rest of them.
    """
    forwarded = forwarded_for(request.META.get("HTTP_X_FORWARDED_FOR", ""), settings.TRUSTED_PROXY)
    for text in (without_port(forwarded), request.META.get("REMOTE_ADDR", "")):
        try:
            return _counted(ipaddress.ip_address(text))
        except ValueError:
            if settings.TRUSTED_PROXY > 0:
                _warn_unread()  # else a Unix socket, or a header nobody wrote
    return None


@cache
def _warn_unread() -> None:
    """Once in a process: everybody counts as the proxy, so few failures of one lock out all."""
    logger.warning("TRUSTED_PROXY is set, but X-Forwarded-For names no address of a client")


def _counted(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address, 64), strict=False).network_address)

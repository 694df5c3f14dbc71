"""Who may log in, and how often somebody may try."""

import ipaddress
from typing import Any

from asgiref.sync import sync_to_async
from axes.backends import AxesStandaloneBackend
from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.db.models import Sum
from django.http import HttpRequest
from django.utils import timezone

from chat.models.user import User

ADDRESS_LIMIT = 100  # failures of all names together from one address, within AXES_COOLOFF_TIME
LONGEST_NAME = 255  # characters; the column of the throttle's table


class AccountBackend(AxesStandaloneBackend, ModelBackend):
    """Logs in by name or e-mail address, unless there were too many failures."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        """Return the account, or None.

        :raises PermissionDenied: from the throttle; Django's `authenticate` turns it into None, and
            `request.axes_locked_out` says so. A call without a request comes from our own code: no throttle.
        """
        if not username or not password:
            return None
        if request is not None:
            super().authenticate(request, username, password, **kwargs)
        account = User.objects.by_login(username)
        if account is None:
            User().set_password(password)  # an unknown name must cost the time of a known one
            return None
        if account.check_password(password) and self.user_can_authenticate(account):
            return account
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
    """Ten failures of one name from one address, or a hundred of all names from that address.

    An office behind one address can mistype a hundred times a quarter of an hour; a list of a thousand names
    with one password each does not get through.
    """

    def is_locked(self, request: Any, credentials: dict[str, Any] | None = None) -> bool:
        """Whether this attempt is refused without a look at the password."""
        return super().is_locked(request, credentials) or self._address_is_locked(request)

    def _address_is_locked(self, request: Any) -> bool:
        recent = AccessAttempt.objects.filter(
            ip_address=request.axes_ip_address, attempt_time__gte=timezone.now() - settings.AXES_COOLOFF_TIME
        )
        return (recent.aggregate(failures=Sum("failures_since_start"))["failures"] or 0) >= ADDRESS_LIMIT


def throttled_name(request: HttpRequest | None, credentials: dict[str, Any] | None) -> str:
    """Under which name a failure counts: an account's own, whichever of its names was typed.

    Otherwise every spelling of an e-mail address would bring ten more tries.
    """
    login = str((credentials or {}).get("username") or "").replace("\0", "")
    account = User.objects.by_login(login)
    return (account.username if account else login).lower()[:LONGEST_NAME]


def client_address(request: HttpRequest) -> str | None:
    """The address that failures count for.

    Behind our own proxy it is the last hop of X-Forwarded-For, which that proxy wrote; what stands before it
    came from the client. Without a proxy the header is the client's invention, and only the socket counts. Of
    an IPv6 address the first 64 bits count, because a household owns all the rest of them.
    """
    addresses = [request.META.get("REMOTE_ADDR", "")]
    if settings.TRUSTED_PROXY:
        addresses.insert(0, request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip())
    for text in addresses:
        try:
            return _counted(ipaddress.ip_address(text))
        except ValueError:
            continue  # not an address: a Unix socket, or a header nobody wrote
    return None


def _counted(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address, 64), strict=False).network_address)

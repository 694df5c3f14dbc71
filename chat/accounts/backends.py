"""Authentication backend and login throttle."""

import hashlib
from typing import Any

from asgiref.sync import sync_to_async
from axes.backends import AxesStandaloneBackend
from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import check_password
from django.core.signing import Signer
from django.db.models import Sum
from django.db.models.signals import pre_save
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from chat.models.user import User

# Failed logins within AXES_COOLOFF_TIME: from one address, of all names; and of one name, from all addresses.
ADDRESS_LIMIT, NAME_LIMIT = 300, 50
KNOWN_BROWSER = "known"  # the cookie, and the salt of the signatures in it
KNOWN_BROWSER_SECONDS = 400 * 86_400  # browsers keep no cookie for longer
MAX_KNOWN_NAMES = 8  # of the people who share a browser
MAX_LOGIN_CHARS = 255  # width of the `username` column of AccessAttempt
LOG_IN, CONFIRMATION = "name:", "session:"  # prefixes of the names that failures are counted under


class AccountBackend(AxesStandaloneBackend, ModelBackend):
    """Authenticate by username or e-mail address, unless the throttle refuses the attempt."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        """Return the account, or None. With `account`, check the password of that signed-in user instead.

        A call without a request comes from our own code and is not throttled.

        Raises PermissionDenied when the throttle refuses the attempt. Django's `authenticate` turns that into
        None, and `request.axes_locked_out` is set.
        """
        account: User | None = kwargs.get("account")
        if not (username or account) or not password:
            return None
        if request is not None:
            super().authenticate(request, username, password, **kwargs)
        if account is not None:
            # Not `account.check_password`: it upgrades an outdated hash, and that would end this session.
            return account if check_password(password, account.password) else None
        return self._logged_in(username or "", password)

    def _logged_in(self, login: str, password: str) -> User | None:
        accounts = User.objects.all_by_login(login)
        for account in accounts:
            if account.check_password(password) and self.user_can_authenticate(account):
                return account
        if not accounts:
            User().set_password(password)  # hash anyway: an unknown name must take as long as a known one
        return None

    def get_user(self, user_id: Any) -> User | None:
        """Return the account of a session with its preferences, or None if it is disabled or gone."""
        account = User.objects.with_preferences(user_id)
        return account if account is not None and self.user_can_authenticate(account) else None

    async def aget_user(self, user_id: Any) -> User | None:
        return await sync_to_async(self.get_user)(user_id)

    async def aauthenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        """Run `authenticate` in a thread: hashing takes 30 ms and the throttle queries the database."""
        return await sync_to_async(self.authenticate)(request, username, password, **kwargs)


class LoginThrottle(AxesDatabaseHandler):
    """Lock a name and an address after ten failures, an address after ADDRESS_LIMIT, a name after NAME_LIMIT.

    The latter does not apply to a browser in which this person has signed in before: otherwise anybody could
    lock an account out, https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies

    Attempts that are refused without checking the password are not counted, so hammering one name adds ten
    failures to the address and no more. An office behind one address can mistype 300 times in 15 minutes; a
    list of 1,000 names with one password each does not get through.
    """

    def is_locked(self, request: Any, credentials: dict[str, Any] | None = None) -> bool:
        """Return True if this attempt is refused without checking the password."""
        if super().is_locked(request, credentials):
            return True
        if _is_confirmation(credentials):
            return False
        if _failed_logins(ip_address=request.axes_ip_address) >= ADDRESS_LIMIT:
            return True
        name = throttled_name(request, credentials)
        return not _is_known(request, name) and _failed_logins(username=name) >= NAME_LIMIT


def _failed_logins(**column: Any) -> int:
    recent = AccessAttempt.objects.filter(attempt_time__gte=timezone.now() - settings.AXES_COOLOFF_TIME)
    log_ins = recent.filter(username__startswith=LOG_IN, **column)
    return log_ins.aggregate(failures=Sum("failures_since_start"))["failures"] or 0


def _is_known(request: HttpRequest, name: str) -> bool:
    return _signature(name) in request.COOKIES.get(KNOWN_BROWSER, "").split(".")


def remember_browser(request: HttpRequest, response: HttpResponse) -> None:
    """Note in a cookie that the person of this request has signed in in this browser."""
    others = request.COOKIES.get(KNOWN_BROWSER, "").split(".")
    signed = _signature(throttled_name(request, {"username": request.user.get_username()}))
    names = [signed, *(each for each in others if each and each != signed)][:MAX_KNOWN_NAMES]
    response.set_cookie(
        KNOWN_BROWSER,
        ".".join(names),
        max_age=KNOWN_BROWSER_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Strict",
        path=settings.LOGIN_URL,
    )


def _signature(name: str) -> str:
    return Signer(salt=KNOWN_BROWSER).signature(name)


@receiver(pre_save, sender=AccessAttempt)
def clear_request_fields(sender: Any, instance: AccessAttempt, **_: Any) -> None:
    """Clear the request's fields, whatever their names; the name, address and time of the failure stay.

    axes stores every GET and POST field except those on a list of names. The fields of a password change form
    hold the new password in clear text.
    """
    instance.get_data = instance.post_data = ""


def _is_confirmation(credentials: dict[str, Any] | None) -> bool:
    return bool(credentials and credentials.get("account"))


def lockout_parameters(request: Any, credentials: dict[str, Any] | None = None) -> list[Any]:
    """Return the columns that axes counts failures by.

    Confirmations count per session, from any address. Logins count per (name, address): counted by the name
    alone, anybody could lock an account out.
    """
    return ["username"] if _is_confirmation(credentials) else [["username", "ip_address"]]


def throttled_name(request: HttpRequest | None, credentials: dict[str, Any] | None) -> str:
    """Return the name that a failure is counted under.

    A login counts under the account's username, also where the e-mail address was typed: otherwise every
    spelling of an address would allow ten more attempts. A confirmation counts under a hash of its session
    key. The result begins with LOG_IN or CONFIRMATION, so no typed name can be taken for a session.
    """
    if request is not None and _is_confirmation(credentials):
        key = request.session.session_key or ""
        return CONFIRMATION + hashlib.sha256(key.encode()).hexdigest()
    login = str((credentials or {}).get("username") or "").replace("\0", "")
    account = User.objects.by_login(login)
    return (LOG_IN + (account.username if account else login).lower())[:MAX_LOGIN_CHARS]


def forget_failures(request: HttpRequest, account: User) -> None:
    """Delete the failed confirmations of this session, after the right password was confirmed."""
    AccessAttempt.objects.filter(username=throttled_name(request, {"account": account})).delete()

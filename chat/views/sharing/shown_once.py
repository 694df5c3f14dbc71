"""A new secret, on its way from the form that made it to the page that shows it once.

The form is answered with a redirect, so that a reload makes no second one. A cookie takes the secret along:
only the browser that shows it gets it, and the server stores only its digest.
"""

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from ..requests.responses import HttpResponseSeeOther

SHOWN_ONCE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class ShownOnce:
    """The name of the cookie, and the route of the page that shows the secret."""

    cookie: str
    route: str

    def redirect_with(self, secret: str) -> HttpResponse:
        """Redirect to the page, which shows the secret."""
        page = reverse(self.route)
        response = HttpResponseSeeOther(page)
        response.set_cookie(
            self.cookie,
            secret,
            max_age=SHOWN_ONCE_SECONDS,
            path=page,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Strict",
        )
        return response

    def read(self, request: HttpRequest) -> str:
        """Return the secret; "" if there is none."""
        return request.COOKIES.get(self.cookie, "")

    def forget(self, request: HttpRequest, response: HttpResponse) -> None:
        """Delete the cookie: the secret was shown."""
        if self.cookie in request.COOKIES:
            response.delete_cookie(self.cookie, path=reverse(self.route), samesite="Strict")

"""Sessions of a browser: sign in on the page, and end a session in the database."""

from playwright.sync_api import Page

from chat.accounts.sessions import session_digest
from tests.support.people import PASSWORD
from tests.support.server import Server


def sign_in(page: Page, name: str) -> None:
    page.get_by_label("Name or email").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/accounts/login" not in url)  # and until its scripts have run


def end_sessions_of(page: Page, server: Server, *, noticed: bool = False) -> None:
    """Delete the session, as an administrator does or as time does.

    An open page soon notices by itself, unless `noticed` is False: then what is done next finds out.
    """
    if not noticed:
        page.route("**/state/", lambda route: route.abort())
    key = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "sessionid")
    server.database.rows(f"DELETE FROM django_session WHERE session_key = '{session_digest(key)}'")

"""Sessions of a browser: sign in on the page, end one in the database; the link to the first account."""

import re

from playwright.sync_api import Page

from chat.accounts.sessions import session_digest
from tests.e2e.chat_page import READY as SCRIPTED
from tests.e2e.chat_page import STATE
from tests.support.people import PASSWORD
from tests.support.server import READY, Server
from tests.support.waiting import until

# A page that asks for changes again and again: its scripts are there, and no reply is on its way to it.
ASKING = f"body:has({SCRIPTED}) #composer:not([data-busy=live])"


def sign_in(page: Page, name: str) -> None:
    page.get_by_label("Name or email").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/accounts/login" not in url)  # and until its scripts have run


def end_sessions_of(page: Page, server: Server, *, noticed: bool = False) -> None:
    """Delete the session, as an administrator does or as time does.

    An open page soon notices by itself, unless `noticed` is False: then what is done next finds out.
    """
    if not noticed:
        page.route(STATE, lambda route: route.abort())
        if page.locator(ASKING).count():
            with page.expect_request(STATE):  # what it asked before has been answered
                pass
    key = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "sessionid")
    server.database.rows(f"DELETE FROM django_session WHERE session_key = '{session_digest(key)}'")


def set_up_path(server: Server) -> str:
    """Wait for the link, which is logged once the server serves."""
    found = until(lambda: re.search(r"/accounts/setup/\S+\n", server.log.read_text()), READY)
    return found[0].strip()

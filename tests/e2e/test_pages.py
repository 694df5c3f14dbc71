"""Every page on a desk and on a phone: it fits, it can be used by everybody, and it keeps to itself."""

from urllib.parse import urlsplit

from playwright.sync_api import Page, expect

from tests.e2e.accessibility import problems
from tests.e2e.chat_page import ChatPage, Window, question
from tests.e2e.set_up_link import set_up_path
from tests.support.people import CSRF
from tests.support.server import Server

WIDTHS = (1280, 390)
PASSWORD = "a lighthouse by the sea"


def visit(page: Page, address: str, status: int) -> None:
    """Go there, and hold every response on the way to the content policy and to our own origin."""
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    response = page.goto(address)
    assert response is not None
    assert response.status == status
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    page.wait_for_load_state("networkidle")
    assert {urlsplit(url).netloc for url in urls} == {urlsplit(page.url).netloc}


def look(page: Page) -> None:
    """Check that the page fits at every width, and that an audit finds nothing."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function("width => innerWidth === width", arg=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert problems(page) == []


def wrong_password(page: Page) -> None:
    page.get_by_label("Name or email").fill("bob")
    page.get_by_label("Password").fill("not this one")
    page.get_by_role("button", name="Sign in").click()


def test_signing_in_and_the_wrong_password(window: Window, server: Server) -> None:
    page = window(server)
    visit(page, "/accounts/login/?next=/", 200)
    look(page)
    wrong_password(page)
    expect(page.get_by_role("alert")).to_have_text("Incorrect name or password.")
    expect(page.get_by_label("Name or email")).to_have_value("bob")
    look(page)


def test_too_many_wrong_passwords(window: Window, server: Server) -> None:
    client = server.person("nobody").client
    for _ in range(10):
        form = {"login": "bob", "password": "not this one", "csrfmiddlewaretoken": CSRF}
        client.post("/accounts/login/", data=form)
    page = window(server)
    visit(page, "/accounts/login/", 200)
    with page.expect_response("**/accounts/login/") as response:
        wrong_password(page)
    assert response.value.status == 429
    expect(page.get_by_role("heading", name="Too many requests")).to_be_visible()
    expect(page.get_by_text("Try again in 15 minutes")).to_be_visible()
    look(page)


def test_a_page_that_is_not_there(window: Window, server: Server) -> None:
    page = window(server, "alice")
    visit(page, "/c/00000000-0000-4000-8000-000000000000/", 404)
    look(page)
    page.get_by_role("link", name="Back to chat").click()
    expect(ChatPage(page).box).to_be_visible()


def test_a_name_that_the_server_does_not_answer_to(window: Window, server: Server) -> None:
    page = window(server)
    visit(page, f"http://foreign.test:{server.port}/", 400)
    expect(page.get_by_text("ALLOWED_HOSTS")).to_have_count(1)
    look(page)


def test_another_refusal_says_nothing_about_hosts(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server)
    chat.ask("Hello")
    chat.ended()
    visit(chat.page, f"{chat.page.url}?before=nonsense", 400)
    expect(chat.page.get_by_text("“before” must be a UUID")).to_be_visible()
    expect(chat.page.get_by_text("ALLOWED_HOSTS")).to_have_count(0)


def test_making_the_first_account(window: Window, fresh_server: Server) -> None:
    page = window(fresh_server)
    link = set_up_path(fresh_server)
    visit(page, link, 200)
    look(page)
    page.get_by_label("Name", exact=True).fill("ada")
    page.get_by_label("Password", exact=True).fill("short")
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_text("too short")).to_be_visible()
    look(page)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    expect(ChatPage(page).box).to_be_visible()
    visit(page, link, 404)


def test_an_empty_and_a_full_conversation(window: Window, server: Server) -> None:
    page = window(server, "alice")
    visit(page, "/", 200)
    look(page)
    chat = ChatPage(page)
    chat.ask(question("reasoning", "a" * 300))
    chat.ended()
    chat.ask(question("status code=5007"))
    chat.ended("failed")
    expect(chat.reply.locator(".request")).to_be_visible()  # what helps is looked at, too
    look(page)
    page.get_by_role("button", name="This conversation", exact=True).click()
    expect(page.get_by_text("Delete this conversation")).to_be_visible()
    look(page)


def test_the_conversations_on_a_phone(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, width=390)
    chat.ask("A question from the phone")
    chat.ended()
    link = chat.page.get_by_role("link", name="A question from the phone")
    expect(link).to_be_hidden()
    chat.page.get_by_role("button", name="Conversations").click()
    expect(link).to_be_visible()
    assert problems(chat.page) == []
    chat.page.keyboard.press("Escape")
    expect(link).to_be_hidden()

"""Payloads as names and texts of files, assistants, prompts, sources and shared links, on every page."""

from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pyromark
import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage
from tests.fake_cloudflare import ai_search
from tests.files import pictures
from tests.safety.browser_watch import Watch
from tests.safety.hostile_site import KNOWLEDGE, QUESTION, HostileSite, Vectors, build
from tests.safety.spy import Spy
from tests.support.databases import Database
from tests.support.module_server import server_with
from tests.support.server import Server
from tests.views.objects import SEEING

Opens = Callable[[str], Watch]
LATE = 100  # milliseconds: the failure of an image and the report of a policy take a moment
CHOOSE = """(model) => {
  const select = document.getElementById('model');
  select.value = model;
  select.dispatchEvent(new Event('change', { bubbles: true }));
}"""
VIEWS = {"Text": "text", "What changed": "changes", "Edit": "edit"}
# The HTML of attachments and sources; an attribute that only a script needs may stand in either.
LISTS = """() => [...document.querySelectorAll('.pictures, .documents, .citations')].map(
  (list) => list.outerHTML.replace(/\\s+</g, '<'))"""


server = server_with(AI_SEARCH_INSTANCES="web", DEFAULT_MODEL=SEEING)


@pytest.fixture(scope="module")
def site(server: Server, database: Database, spy: Spy) -> Iterator[HostileSite]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ai_search.FOUND, "web", Vectors(spy.port).chunks())
        yield build(server, database, spy.port)


def sources() -> list[str]:
    """The titles and the passages of a reply's sources, as far as they are shown whole."""
    chunks = ai_search.FOUND["web"]
    titles = [each["item"]["key"] for each in chunks]
    whole = [title for title in titles if title.isprintable() and len(title) <= 200 and "  " not in title]
    assert len(whole) > len(titles) / 2
    return [*whole, *(each["text"].strip() for each in chunks)]


def of_assistant(sent: dict[str, Any]) -> list[str]:
    return [sent["name"], sent["description"]]


def conversation(watched: Opens, site: HostileSite) -> Watch:
    """The thread as the server rendered it, a picture opened, and the question's attachments to be edited."""
    window = watched("alice")
    page = window.page
    page.goto(f"/c/{site.conversation}/")
    window.shows(site.title, *site.names, *sources(), site.assistants[site.assistant]["name"])
    for index in (0, 1):
        page.locator(".question .pictures a").nth(index).click()
        expect(page.locator("dialog#picture[open]")).to_be_visible()
        window.shows(site.names[index])
        page.keyboard.press("Escape")
    page.locator("article.question").first.hover()
    page.get_by_role("button", name="Edit", exact=True).first.click()
    expect(page.locator(".edit .tray")).to_be_visible()
    window.shows(*site.names)
    return window


def text_page(watched: Opens, site: HostileSite) -> Watch:
    window = watched("alice")
    window.visit(site.document["text_url"])
    window.shows(site.document["name"], *site.vectors.all)
    return window


def assistants(watched: Opens, site: HostileSite) -> Watch:
    """The list, the form, and the page that begins a chat; her own and what others published."""
    window = watched("alice")
    own, everybodys, of_group = site.assistants.values()
    window.visit("/settings/assistants/")
    window.shows(*of_assistant(own), *of_assistant(everybodys))
    window.visit(f"/settings/assistants/{site.assistant}/")
    window.shows(*of_assistant(own), own["instructions"], own["file"], *own["questions"])
    window.visit(f"/?assistant={site.assistant}")
    window.shows(*of_assistant(own), own["file"], *own["questions"])
    roots = watched("root")
    roots.visit("/settings/assistants/")
    roots.shows(*of_assistant(of_group), site.group)
    return window


def prompts(watched: Opens, site: HostileSite) -> Watch:
    """The list, the form, and the menu with the dialog of a prompt's fields."""
    window = watched("alice")
    page, own = window.page, list(site.prompts.values())[:8]
    window.visit("/settings/prompts/")
    window.shows(*(each["title"] for each in own))
    key, first = next(iter(site.prompts.items()))
    window.visit(f"/settings/prompts/{key}/")
    window.shows(first["title"], first["text"])
    page.goto("/")
    chat = ChatPage(page)
    chat.box.press_sequentially("/")
    expect(page.get_by_role("option")).to_have_count(len(own))
    window.shows(*(each["title"] for each in own))
    chat.box.press_sequentially("p0")
    chat.box.press("Enter")
    dialog = page.locator("dialog#prompt-fields[open]")
    expect(dialog).to_be_visible()
    window.shows(first["title"], *(text.strip() for pair in first["fields"] for text in pair))
    dialog.get_by_role("button", name="Insert").click()
    window.shows(first["fields"][0][1])
    roots = watched("root")
    roots.visit("/settings/prompts/")
    roots.visit(f"/settings/prompts/{list(site.prompts)[9]}/")
    roots.shows(site.group)
    return window


def shared(watched: Opens, site: HostileSite) -> Watch:
    """The page of a shared link and of its document for anybody, and the owner's pages about the link."""
    window = watched("nobody")
    window.visit(site.shared)
    names = [name for name, each in zip(site.names, site.files, strict=True) if each["name"] != name]
    documents = [each["name"] for each in site.files if each["kind"] == "document"]
    window.shows(site.title, *names, *documents, *sources())
    window.visit(f"{site.shared}attachments/{site.document['id']}/text/")
    window.shows(site.document["name"], *site.vectors.all)
    alices = watched("alice")
    for path in (f"{site.shared}continue/", "/settings/shared/", f"/messages/{site.replies[-1]}/share/"):
        alices.visit(path)
        alices.shows(site.title)
    return window


def administration(watched: Opens, site: HostileSite) -> Watch:
    """The transcript, and the lists of assistants and of shared links."""
    window = watched("erin")
    window.visit(f"/admin/chat/conversation/{site.conversation}/change/")
    window.shows(site.title, *site.names, *sources())
    roots = watched("root")
    roots.visit("/admin/chat/assistant/")
    roots.shows(*(each["name"] for each in list(site.assistants.values())[1:]), site.group)
    roots.visit("/admin/chat/sharedlink/")
    return window


def source(watched: Opens, site: HostileSite) -> Watch:
    window = watched("alice")
    for message in (site.question, site.replies[-1]):
        window.visit(f"/messages/{message}/source/")
    return window


def beside(watched: Opens, site: HostileSite) -> Watch:
    """A text opened beside the chat, in each of its views, and its page."""
    window = watched("alice")
    page = window.page
    page.goto(f"/c/{site.workbench}/")
    reply = page.locator("article.reply").last
    window.runs = True
    reply.locator("[data-run]").click()
    panel = page.locator("dialog.beside")
    expect(panel.locator("iframe")).to_be_visible()
    for _ in range(60):  # all of it runs, and nothing of it reaches the page or anybody
        page.wait_for_timeout(5 * LATE)
        if any(url.endswith("/m.js") for url in window.stopped):
            break
    else:
        pytest.fail("the document does not run")
    window.look()
    for view in ("Text", "What changed", "Edit"):
        panel.get_by_role("navigation").get_by_role("link", name=view, exact=True).click()
        expect(panel.locator(f"[data-view={VIEWS[view]}]")).to_be_visible()
        window.runs = False
        window.shows(*site.vectors.all)
    page.keyboard.press("Escape")
    message = reply.get_attribute("data-message")
    for query in ("", "?block=1", "?block=1&view=changes", "?block=1&view=edit"):
        window.visit(f"/messages/{message}/text/{query}")
    return window


def settings(watched: Opens, site: HostileSite) -> Watch:
    """Each section of the settings, in the dialog over the chat, after somebody has read it."""
    watched("root").visit(f"/admin/chat/conversation/{site.conversation}/change/")
    window = watched("alice")
    page = window.page
    page.goto(f"/c/{site.conversation}/")
    page.locator("#sidebar [data-opens=preferences]").click()
    dialog = page.locator("dialog.settings-dialog[open]")
    links = dialog.locator(".settings-sections a")
    expect(links.first).to_be_visible()
    for number in range(links.count()):
        links.nth(number).click()
        expect(links.nth(number)).to_have_attribute("aria-current", "page")
        window.look()
    dialog.locator(".settings-sections a[href$='/readings/']").click()
    expect(dialog.locator(".settings-section")).to_contain_text(site.owner)
    window.shows(site.title, site.owner)
    return window


@pytest.mark.parametrize(
    "place", [conversation, text_page, assistants, prompts, shared, administration, source, beside, settings]
)
def test_no_field_runs_or_leaves(
    watched: Opens, site: HostileSite, place: Callable[[Opens, HostileSite], Watch]
) -> None:
    window = place(watched, site)
    window.page.wait_for_timeout(LATE)


def test_no_field_runs_in_an_exported_page(
    watched: Opens, site: HostileSite, server: Server, tmp_path: Path
) -> None:
    response = server.person("alice").get(f"/c/{site.conversation}/export/?format=html")
    exported = tmp_path / "conversation.html"
    exported.write_bytes(response.content)
    window = watched("alice")
    window.open_file(exported)
    window.shows(site.title, *site.names, *sources(), site.assistants[site.assistant]["name"])
    window.page.wait_for_timeout(LATE)


def test_no_field_becomes_markup_in_exported_markdown(site: HostileSite, server: Server) -> None:
    """Only the messages are Markdown, and these are harmless."""
    exported = server.person("alice").get(f"/c/{site.conversation}/export/?format=markdown")
    events = list(pyromark.events(exported.text))
    assert [event for event in events if "Html" in str(event)[:15]] == []
    links = [tag["Link"]["dest_url"] for tag in started(events) if "Link" in tag]
    assert links
    assert [link for link in links if not link.startswith(("http://", "https://"))] == []
    assert [tag for tag in started(events) if "Image" in tag] == []


def started(events: list[Any]) -> list[dict[str, Any]]:
    """The tags with fields among the events of the parser."""
    found = [event["Start"] for event in events if isinstance(event, dict) and "Start" in event]
    return [tag for tag in found if isinstance(tag, dict)]


def test_no_field_runs_while_it_is_sent_and_streamed(watched: Opens, site: HostileSite) -> None:
    window, vectors = watched("alice"), site.vectors
    page = window.page
    page.goto(f"/?assistant={site.assistant}")
    page.evaluate(CHOOSE, SEEING)
    chat = ChatPage(page)
    names = [vectors.file_name(".png"), *(vectors.file_name(".txt") for _ in "123")]
    contents = [pictures.png(9, 9), *(vectors.text.encode() + name.encode() for name in names[1:])]
    kinds = ["image/png", *["text/plain"] * 3]
    page.locator("#files").set_input_files(
        [
            {"name": name, "mimeType": kind, "buffer": content}
            for name, kind, content in zip(names, kinds, contents, strict=True)
        ]
    )
    tray = page.locator("#composer .tray")
    expect(tray.locator("img[src], .document a:visible")).to_have_count(len(names))
    # Browsers encode a quotation mark, and Django decodes references.
    names = [unescape(name.replace('"', "%22")) for name in names]
    window.shows(*names)
    alt = vectors.line(500)
    tray.locator("[data-do=open]").first.click()
    page.locator("dialog#picture [name=alt]").fill(alt)
    page.locator("dialog#picture [value=save]").click()
    expect(tray.locator("img").first).to_have_attribute("alt", alt)  # nothing is sent before it is saved
    window.shows(alt)
    chat.ask(QUESTION)
    chat.ended()
    page.evaluate(CHOOSE, KNOWLEDGE)
    chat.ask(QUESTION)
    expect(page.locator("article.reply")).to_have_count(2)
    chat.ended()
    expect(chat.reply.locator(".citations")).to_be_attached()
    window.shows(alt, *names, *sources())
    streamed = page.evaluate(LISTS)
    assert len(streamed) >= 3
    page.reload()
    window.shows(alt, *names, *sources())
    assert page.evaluate(LISTS) == streamed
    page.wait_for_timeout(LATE)

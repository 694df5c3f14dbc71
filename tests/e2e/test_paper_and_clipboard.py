"""Equations, tables and lists in replies, on paper and in the clipboard: nothing cut off or run together."""

import pypdfium2
import pytest
from playwright.sync_api import expect
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tests.e2e.chat_page import MAY_COPY, ChatPage, Window
from tests.e2e.seed import numbered, talk
from tests.fake_cloudflare.text_scenarios import says_line
from tests.fake_cloudflare.tool_scenarios import turns_line
from tests.support.server import Server

COLUMNS = 14
TABLE = (
    f"| {' | '.join(f'Column {n}' for n in range(COLUMNS))} |\n|{'---|' * COLUMNS}\n"
    f"| {' | '.join(f'value{n}' for n in range(COLUMNS))} |\n"
)
WIDE = f"$${' + '.join(f'z_{{{n}}}^{{2}}' for n in range(40))} = 987$$"
PARTS = (
    "| Shape | Area | Note |\n|---|---|---|\n| circle | $\\pi r^2$ | round |\n| square | $a^2$ | even |\n\n"
    "3. one $x$\n4. two $y$\n5. three $z$\n   - under $u$\n"
)
PAPER_STYLED = "() => document.head.querySelector('link[media=print]')?.sheet"
SELECT = """([first, last]) => {
  const found = (words) => {
    const text = document.querySelector('.reply [data-part=text]');
    const walk = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) if (walk.currentNode.data.includes(words)) return walk.currentNode;
  };
  document.dispatchEvent(new Event('selectstart'));
  const [start, end] = [found(first), found(last)];
  const until = end.data.indexOf(last) + last.length;
  getSelection().setBaseAndExtent(start, start.data.indexOf(first), end, until);
}"""
LOADED = """() => performance.getEntriesByType('resource').some(
  ({ name, responseEnd }) => responseEnd && name.includes('rich_text'))"""
HTML = """async () => {
  const [item] = await navigator.clipboard.read();
  return (await item.getType('text/html')).text();
}"""


def test_a_wide_table_and_equation_are_wholly_on_the_paper(window: Window, server: Server) -> None:
    page = window(server, "alice", at=talk(server, "alice", ["Show it.", f"{TABLE}\n{WIDE}"]))
    page.wait_for_function(PAPER_STYLED)
    pdf = pypdfium2.PdfDocument(page.pdf(format="A4"))
    words = ""
    for sheet in pdf:
        text = sheet.get_textpage()
        right = sheet.get_width()
        assert all(text.get_rect(n)[2] <= right for n in range(text.count_rects()))
        words += text.get_text_bounded()
    squeezed = "".join(words.split())
    assert all(f"value{n}" in squeezed for n in range(COLUMNS))
    assert "987" in squeezed


PRINTS = "() => { window.print = () => (window.printed = document.querySelectorAll('article').length); }"
YEARS = (
    "| Method | Cost | Memory | Converges | Parallel | Certain | Year | Author | Library | Note |\n"
    f"|{'---|' * 10}\n| Conjugate gradients | O(nnz) | O(n) | superlinear | embarrassingly | yes | 1952 |"
    " Hestenes and Stiefel | PETSc `KSPCG` | preconditioning_is_everything_here |\n"
)


def test_no_column_on_paper_breaks_a_year(window: Window, server: Server) -> None:
    page = window(server, "alice", at=talk(server, "alice", ["Show it.", YEARS]))
    page.wait_for_function(PAPER_STYLED)
    [sheet] = pypdfium2.PdfDocument(page.pdf(format="A4"))
    words = sheet.get_textpage().get_text_bounded().split()
    assert "1952" in words
    assert "Year" in words


def test_a_long_question_begins_on_the_first_sheet(window: Window, server: Server) -> None:
    page = window(server, "alice", at=talk(server, "alice", ["A long line. " * 600, "Read."]))
    page.wait_for_function(PAPER_STYLED)
    first = pypdfium2.PdfDocument(page.pdf(format="A4"))[0]
    assert first.get_textpage().get_text_bounded().count("long line") > 20


def test_a_reply_is_printed_with_its_sources(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server)
    chat.page.get_by_text("Web", exact=True).click()
    searches = {"calls": [["web_search", {"query": "gardens"}]]}
    chat.asked(f"News?\n{turns_line(searches, {'text': 'It is one [1].'})}")
    chat.page.reload()
    chat.page.evaluate(PRINTS)
    chat.page.locator("article.reply").get_by_role("button", name="More actions").click()
    chat.page.get_by_role("menuitem", name="Print").click()
    chat.page.wait_for_function("() => window.printed")
    [sheet] = pypdfium2.PdfDocument(chat.page.pdf(format="A4"))
    words = sheet.get_textpage().get_text_bounded()
    assert "It is one [1]." in words
    assert "What was new in October" in words
    assert "https://blog.example/october" in words
    assert "News?" not in words


def test_the_whole_chat_is_printed_from_its_menu(window: Window, server: Server) -> None:
    page = window(server, "alice", at=talk(server, "alice", numbered(120)))
    page.evaluate(PRINTS)
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Print").or_(page.get_by_role("button", name="Print")).click()
    page.wait_for_function("() => window.printed === 120")  # also the messages that were not on the page


def test_one_reply_is_printed_alone(window: Window, server: Server) -> None:
    page = window(server, "alice")
    page.goto(talk(server, "alice", ["A letter?", "Dear Ms Berger", "Thanks", "You are welcome"]))
    page.evaluate(PRINTS)
    page.locator("article.reply").first.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Print").click()
    page.wait_for_function("() => window.printed")
    [sheet] = pypdfium2.PdfDocument(page.pdf(format="A4"))
    assert sheet.get_textpage().get_text_bounded().strip() == "Dear Ms Berger"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="print")
    expect(page.get_by_text("You are welcome")).to_be_visible()


def words_of(item: LexborNode) -> str:
    return item.text(deep=True).strip().partition("\n")[0]


@pytest.mark.parametrize(
    ("first", "last", "rows", "lists"),
    [
        ("circle", "even", [["circle", "πr2", "round"], ["square", "a2", "even"]], []),
        ("rcle", "squ", [["rcle", "πr2", "round"], ["squ"]], []),
        ("circle", "round", [["circle", "πr2", "round"]], []),
        ("two", "three", [], [[4, "two y", "three"]]),
        ("even", "two", [["even"]], [[3, "one x", "two"]]),
        ("one", "under", [], [[3, "one x", "two y", "three zunder"]]),
    ],
)
def test_a_part_is_copied_as_rows_and_items(
    window: Window, server: Server, first: str, last: str, rows: list[list[str]], lists: list[list[object]]
) -> None:
    chat = ChatPage.open(window, server, permissions=["clipboard-read", "clipboard-write"])
    chat.asked(f"Go on.\n{says_line(PARTS)}")
    chat.page.evaluate(SELECT, [first, last])
    chat.page.wait_for_function(LOADED)
    chat.page.keyboard.press("ControlOrMeta+c")
    copied = LexborHTMLParser(chat.page.evaluate(HTML))
    assert [[cell.text() for cell in row.css("td, th")] for row in copied.css("table tr")] == rows
    numbered = [(ol.attributes.get("start") or 1, ol.css("ol > li")) for ol in copied.css("ol")]
    assert [[int(start), *map(words_of, items)] for start, items in numbered] == lists


PAPER = 720  # pixels between the margins of A4
SAID = f"See [the source](https://example.org/there).\n\n```\n{'a long line of code ' * 20}\n```"
WIDER = """() => [...document.querySelectorAll('body *')].filter(element => element.checkVisibility()
  && element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX !== 'visible'
  && !element.matches('.hidden')).map(element => element.outerHTML.slice(0, 80))"""


def test_a_conversation_on_paper(window: Window, server: Server) -> None:
    address = talk(server, "alice", ["Where is it?", SAID] * 12)  # the first ones are far from the end
    page = window(server, "alice", at=address, width=PAPER, color_scheme="dark")
    page.wait_for_function(PAPER_STYLED)
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.get_by_text("A long talk").locator("visible=true")).to_have_count(1)
    for hidden in ("nav", "#composer", "#pick", ".message-actions", ".code-actions"):
        expect(page.locator(hidden).locator("visible=true")).to_have_count(0)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    link = page.locator(".prose a").first
    assert link.evaluate("a => getComputedStyle(a, '::after').content") == '" (https://example.org/there)"'
    assert page.evaluate(WIDER) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER


def test_a_shared_conversation_on_paper(window: Window, server: Server) -> None:
    alice = server.person("alice")
    message = alice.asked("Hello").meta["message"]
    link = alice.post(f"/messages/{message}/share/", {}).json()["url"]
    page = window(server, at="/s/" + link.partition("/s/")[2], width=PAPER)
    expect(page.get_by_role("link", name="Continue this chat")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.get_by_text("You said: Hello")).to_be_visible()
    expect(page.locator(".button").locator("visible=true")).to_have_count(0)


WIDE_EQUATION = "\\[\n" + " + ".join(f"x_{{{n}}}^2" for n in range(60)) + " = 0\n\\]"
TEXT = (
    "The area is $a_1 * b_1$ for $5 each:\nsee below.\n\n"
    "\\[\nA\n=\n\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}\n\\]\n\n"
    f"{WIDE_EQUATION}\n\nand \\(x \\le y\\).\n"
)
SELECT_ALL = """() => { const range = document.createRange();
  range.selectNodeContents([...document.querySelectorAll('.reply [data-part=text]')].at(-1));
  document.dispatchEvent(new Event('selectstart'));
  getSelection().removeAllRanges(); getSelection().addRange(range); }"""
HTML_OF_REPLY = "() => [...document.querySelectorAll('.reply [data-part=text]')].at(-1).innerHTML"


def test_a_streamed_equation_is_the_one_of_a_reload(chat: ChatPage) -> None:
    chat.asked(f"Go on.\n{says_line(TEXT, size=3, delay=0.005)}")
    expect(chat.reply.locator("math")).to_have_count(4)
    expect(chat.reply).to_contain_text("for $5 each")
    streamed = chat.page.evaluate(HTML_OF_REPLY)
    chat.page.reload()
    assert chat.page.evaluate(HTML_OF_REPLY) == streamed


def test_a_selection_is_copied_as_tex(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, **MAY_COPY)
    chat.asked(f"Go on.\n{says_line(TEXT)}")
    chat.page.evaluate(SELECT_ALL)
    chat.page.wait_for_function(LOADED)
    chat.page.keyboard.press("ControlOrMeta+c")
    copied = chat.page.evaluate("navigator.clipboard.readText()")
    assert "The area is $a_1 * b_1$ for $5 each:\nsee below." in copied
    assert "$$A\n=\n\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}$$" in copied
    assert "and x ≤ y." in copied


def test_a_wide_equation_scrolls_in_its_own_box(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, width=320)
    chat.asked(f"Go on.\n{says_line(TEXT)}")
    box = chat.reply.locator(".equation").nth(1)
    assert box.evaluate("(box) => box.scrollWidth > box.clientWidth")
    assert chat.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box.focus()
    chat.page.keyboard.press("End")
    chat.page.keyboard.press("ArrowRight")
    expect(box).to_be_focused()
    chat.page.wait_for_function("(box) => box.scrollLeft > 0", arg=box.element_handle())

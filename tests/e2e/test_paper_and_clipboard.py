"""Tables, lists and equations on paper and in the clipboard: nothing cut off, nothing run together."""

import pypdfium2
import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tests.e2e.chat_page import ChatPage, Window
from tests.e2e.seed import talk
from tests.fake_cloudflare.text_scenarios import says_line
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
  ({ name, responseEnd }) => responseEnd && name.includes('copy_tex'))"""
HTML = """async () => {
  const [item] = await navigator.clipboard.read();
  return (await item.getType('text/html')).text();
}"""


def test_a_wide_table_and_equation_are_wholly_on_the_paper(window: Window, server: Server) -> None:
    page = window(server, "alice")
    page.goto(talk(server, "alice", ["Show it.", f"{TABLE}\n{WIDE}"]))
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


def words_of(item: LexborNode) -> str:
    return item.text(deep=True).strip().partition("\n")[0]


@pytest.mark.parametrize(
    ("first", "last", "rows", "lists"),
    [
        ("circle", "even", [["circle", "$\\pi r^2$", "round"], ["square", "$a^2$", "even"]], []),
        ("rcle", "squ", [["rcle", "$\\pi r^2$", "round"], ["squ"]], []),
        ("circle", "round", [["circle", "$\\pi r^2$", "round"]], []),
        ("two", "three", [], [[4, "two $y$", "three"]]),
        ("even", "two", [["even"]], [[3, "one $x$", "two"]]),
        ("one", "under", [], [[3, "one $x$", "two $y$", "three $z$under"]]),
    ],
)
def test_a_part_is_copied_as_rows_and_items(
    window: Window, server: Server, first: str, last: str, rows: list[list[str]], lists: list[list[object]]
) -> None:
    chat = ChatPage.open(window, server, permissions=["clipboard-read", "clipboard-write"])
    chat.ask(f"Go on.\n{says_line(PARTS)}")
    chat.ended()
    chat.page.evaluate(SELECT, [first, last])
    chat.page.wait_for_function(LOADED)
    chat.page.keyboard.press("ControlOrMeta+c")
    copied = LexborHTMLParser(chat.page.evaluate(HTML))
    assert [[cell.text() for cell in row.css("td, th")] for row in copied.css("table tr")] == rows
    numbered = [(ol.attributes.get("start") or 1, ol.css("ol > li")) for ol in copied.css("ol")]
    assert [[int(start), *map(words_of, items)] for start, items in numbered] == lists

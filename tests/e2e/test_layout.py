"""Nothing is cut off, covers another or moves where it should stand still."""

from playwright.sync_api import Locator, Page, expect

from tests.e2e.chat_page import ChatPage, Window, box, open_instructions, question
from tests.e2e.input_methods import FINGER, MOUSE
from tests.e2e.seed import numbered, talk
from tests.e2e.sidebar_page import Shell, conversations, drop
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.server import Server

NARROW, WIDE = 390, 1280
BESIDE = [
    "#sidebar .new-chat",
    "#conversations li a >> nth=-1",
    ".account-button",
    "#title",
    "#pick",
    "#content",
]
# True if a finger in its lowest part still hits it: a part that is cut off is neither seen nor hit.
WHOLE = """(element) => {
  element.scrollIntoView({ block: 'center' });
  const { left, width, top, height } = element.getBoundingClientRect();
  return element.contains(document.elementFromPoint(left + width / 2, top + height * 0.9));
}"""
ROOM = "(upper, lower) => lower.getBoundingClientRect().top - upper.getBoundingClientRect().bottom"
# Frame after frame nothing moves: what is far is laid out once it is near, which may bring more near.
STILL = """() => new Promise((resolve) => {
  let before = '';
  let frames = 0;
  const look = () => {
    const now = `${scrollY} ${document.documentElement.scrollHeight}`;
    frames = now === before ? frames + 1 : 0;
    before = now;
    if (frames === 5) resolve();
    else requestAnimationFrame(look);
  };
  look();
})"""

# The place of an element's first words, or of the button that they stand in.
PLACE = """const place = (element) => {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (!texts.nextNode().data.trim()) continue;
    const button = texts.currentNode.parentElement.closest('.button');
    if (button) return button.getBoundingClientRect();
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    return range.getBoundingClientRect();
  };"""
# The distance of each heading of a list from its column's text, at the side to which it is aligned.
OFF = f"""() => {{
  {PLACE}
  const [row] = document.querySelectorAll('#result_list tbody tr');
  return [...document.querySelectorAll('#result_list thead th')].flatMap((head, n) => {{
    const text = head.querySelector('.text :is(a, span)');
    const cell = row.cells[n];
    if (!text || head.matches('.action-checkbox-column') || !cell.textContent.trim()) return [];
    const side = getComputedStyle(cell).textAlign === 'end' ? 'right' : 'left';
    return [place(text)[side] - place(cell)[side]];
  }});
}}"""
DOT = 20  # it hangs 12 pixels below the text, and is 8 high


def end(element: Locator) -> float:
    found = box(element)
    return found["x"] + found["width"]


def below(upper: Locator, lower: Locator) -> float:
    """The room between two elements, in pixels, at one moment."""
    return float(upper.evaluate(ROOM, lower.element_handle()))


def resize(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_function("width => innerWidth === width", arg=width)


def test_the_buttons_under_a_question_far_from_the_end_are_whole(window: Window, server: Server) -> None:
    address = talk(server, "alice", numbered(30))
    page = window(server, "alice", at=address, **FINGER.window)
    far = page.locator(".question.offscreen").first
    far.locator("[data-part=text]").tap()  # what can be done with it shows then
    buttons = far.locator(".icon-button")
    expect(far.locator(".message-footer")).to_have_css("opacity", "1")
    assert [buttons.nth(n).evaluate(WHOLE) for n in range(3)] == [True, True, True]


def test_an_open_drawer_becomes_a_sidebar_on_a_wide_page(window: Window, server: Server) -> None:
    drop(server.database, "alice")
    conversations(server.database, "alice", ["Sailing"])
    shell = Shell(window(server, "alice", width=NARROW, reduced_motion="reduce"), FINGER)
    shell.page.goto("/")
    shell.page.get_by_role("button", name="Chats", exact=True).click()
    expect(shell.page.get_by_role("button", name="Options for Sailing")).to_be_visible()
    resize(shell.page, WIDE)
    expect(shell.sidebar).to_be_visible()
    sidebar, chat = box(shell.sidebar), box(shell.page.locator("#chat"))
    assert sidebar["x"] == 0
    assert chat["x"] == sidebar["width"]
    assert chat["x"] + chat["width"] == WIDE


def test_the_buttons_of_an_edit_stand_in_one_row(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, width=NARROW)
    chat.asked("Hello")
    chat.questions.last.get_by_role("button", name="Edit").click()
    expect(chat.page.get_by_role("textbox", name="Edit your message")).to_be_focused()  # and in view
    rows = [box(chat.page.get_by_role("button", name=name))["y"] for name in ("Cancel", "Save and send")]
    assert rows[0] == rows[1]


def test_a_list_in_a_list_stands_close_whatever_comes_before_it(chat: ChatPage) -> None:
    chat.asked(says_line("- plain\n  - in it\n- with `code`\n  - in it"))
    outer = chat.reply.locator(".prose > ul > li")
    gaps = [box(item.locator("ul"))["y"] - box(item)["y"] for item in outer.all()]
    assert len(gaps) == 2
    assert gaps[0] == gaps[1]


def test_the_instructions_box_does_not_touch_its_text(window: Window, server: Server) -> None:
    page = window(server, "alice", at="/", width=NARROW, reduced_motion="reduce")
    dialog = open_instructions(page)
    box = dialog.get_by_role("textbox")
    assert below(box, dialog.locator("#settings-count")) >= 4


def test_the_words_below_a_field_are_clear_of_its_focus_ring(window: Window, server: Server) -> None:
    page = window(server, "root", at="/admin/chat/invite/add/", width=WIDE)
    padding = page.locator("#id_note_helptext").evaluate("help => getComputedStyle(help).paddingBlockStart")
    assert float(padding.removesuffix("px")) > 4  # two of the ring, two between it and the field


def test_the_group_that_is_open_moves_no_other(window: Window, server: Server) -> None:
    page = window(server, "root", width=WIDE)
    places = []
    for address in ("", "auth/group/", "chat/conversation/", "connect/", "chat/worker/"):
        page.goto(f"/admin/{address}")
        places.append([box(group)["x"] for group in page.locator("#bar .group").all()])
    assert len(places[0]) == 5
    assert places == [places[0]] * 5


def test_one_group_looks_open_and_a_preset_can_be_read(window: Window, server: Server) -> None:
    page = window(server, "root", at="/admin/chat/sitemodel/doors/", width=WIDE, color_scheme="dark")
    quiet = page.locator("#bar .group").first.evaluate("group => getComputedStyle(group).color")
    expect(page.locator("#bar > a")).to_have_css("color", quiet)
    name = page.get_by_label("Name of Everyday")
    assert name.evaluate("field => getComputedStyle(field, '::placeholder').color") == quiet


def test_a_switch_of_the_box_shows_without_colour_that_it_is_on(window: Window, server: Server) -> None:
    page = window(server, "alice", at="/", width=NARROW)
    switch = page.locator(".think", has=page.get_by_role("switch", name="Web"))
    expect(switch.get_by_text("Web")).to_be_visible()
    expect(switch).to_have_css("box-shadow", "none")
    switch.click()
    expect(switch).not_to_have_css("box-shadow", "none")


def test_a_sheet_that_comes_later_moves_nothing_in_the_card(window: Window, server: Server) -> None:
    page = window(server, "root", at="/", width=NARROW)
    steps, button, sheet = (page.locator(each) for each in (".checklist ol", ".checklist button", "#forms"))
    sheet.evaluate("link => { link.rel = 'stylesheet'; }")
    page.wait_for_function("() => document.getElementById('forms').sheet")
    after = below(steps, button)
    sheet.evaluate("link => { link.disabled = true; }")
    assert below(steps, button) == after


def test_the_administrations_fields_are_not_cut_off(window: Window, server: Server) -> None:
    page = window(server, "root", at="/admin/chat/user/add/", width=320)
    fields = page.locator("form input:visible")
    assert fields.count() > 4
    assert max(map(end, fields.all())) <= end(page.locator(".form-row").first)


def test_a_deletion_is_noted_above_the_message_box(window: Window, server: Server) -> None:
    drop(server.database, "bob")
    conversations(server.database, "bob", ["Sailing", "Cooking"])
    shell = Shell.open(window, server, MOUSE, name="bob")
    shell.do("Delete", "Cooking")
    toast = shell.toast.locator(".toast")
    expect(toast).to_be_visible()
    middles = [box(one)["x"] + box(one)["width"] / 2 for one in (toast, shell.page.locator("#composer"))]
    assert abs(middles[0] - middles[1]) <= 1


def test_a_title_being_written_on_a_phone_moves_nothing(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, width=NARROW)
    chat.asked("Hello")
    expect(chat.page.locator("#title")).to_be_visible()  # it comes into the header by itself
    before = box(chat.questions.last)["y"]
    chat.page.locator("#title").click()
    expect(chat.page.get_by_role("textbox", name="Title of this chat")).to_be_visible()
    assert box(chat.questions.last)["y"] == before


def test_the_latest_question_is_whole_on_a_phone(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, width=NARROW)
    chat.asked("One line\nand another\nand the last one")
    assert below(chat.page.locator(".topbar"), chat.questions.last) >= 0


def test_an_empty_reply_reads_the_same_after_a_reload(chat: ChatPage) -> None:
    chat.asked(question("empty"))
    for _ in range(2):
        note = chat.reply.get_by_text("The model returned an empty reply.")
        expect(note).to_be_visible()
        assert below(note, chat.reply.get_by_role("button", name="Try again")) >= 4
        chat.page.reload()
    chat.page.goto("/")
    chat.asked("Hello")
    expect(chat.reply.get_by_text("The model returned an empty reply.")).to_be_hidden()


def test_focus_beside_the_thread_moves_nothing(window: Window, server: Server) -> None:
    address = talk(server, "alice", numbered(30))
    page = window(server, "alice", at=address, width=WIDE)
    page.evaluate("scrollTo(0, 1000)")
    page.evaluate(STILL)
    before = page.evaluate("scrollY")
    for selector in BESIDE:
        page.locator(selector).focus()
        page.evaluate("new Promise(requestAnimationFrame)")
        assert page.evaluate("scrollY") == before, selector


def test_headings_stand_above_their_columns(window: Window, server: Server) -> None:
    drop(server.database, "alice")
    conversations(server.database, "alice", ["Sailing"])
    page = window(server, "root")
    for place in ("conversation", "user", "sitemodel"):
        page.goto(f"/admin/chat/{place}/")
        off = page.evaluate(OFF)
        assert len(off) > 2
        assert max(map(abs, off)) < 2, f"{place}: {off}"


def test_without_scripts_stop_stands_clear_of_the_dot(window: Window, server: Server) -> None:
    page = window(server, "alice", at="/", java_script_enabled=False)
    page.locator("#content").fill(question("hang after=3"))
    page.get_by_role("button", name="Send", exact=True).click()
    text = page.locator("article.reply [data-part=text] > p")
    expect(text).to_have_text("word1 word2 word3")
    stop = page.locator("article.reply").get_by_role("button", name="Stop")
    assert box(stop)["y"] >= box(text)["y"] + box(text)["height"] + DOT
    stop.click()


# The elements at the upper corners of the box, outside of its rounding.
CORNERS = """() => {
  const { left, right, top } = document.querySelector('#composer').getBoundingClientRect();
  return [[left + 1, top + 1], [right - 1, top + 1]].map(([x, y]) => {
    const dock = document.elementsFromPoint(x, y).find((el) => el.matches('.composer-dock'));
    const paddingTop = parseFloat(getComputedStyle(dock).paddingTop);
    return top - dock.getBoundingClientRect().top - paddingTop;
  });
}"""


def test_statistics_show_on_hover_and_on_request(chat: ChatPage) -> None:
    chat.asked(question("words tokens=40"))
    chat.asked("And then?")
    reply = chat.replies.first
    meta = reply.locator("[data-part=reply-meta]")
    shown = "meta => getComputedStyle(meta, '::details-content').contentVisibility"
    chat.box.hover()
    assert meta.evaluate(shown) == "hidden"
    assert "40 tokens" not in meta.inner_text()
    reply.hover()
    assert meta.evaluate(shown) == "visible"
    chat.box.hover()
    meta.locator("summary").press("Enter")
    expect(meta).to_have_attribute("open", "")
    assert "40 tokens" in meta.inner_text()


def test_a_reply_without_statistics_has_nothing_to_open(chat: ChatPage) -> None:
    chat.ask(question("words tokens=2000 delay=0.05"))
    foot = chat.reply.locator(".reply-meta")
    expect(foot).to_have_js_property("inert", True)
    chat.stop.click()
    chat.ended("stopped")
    expect(foot).to_have_js_property("inert", False)  # seconds


def test_the_ground_behind_the_corners_of_the_box_is_opaque(chat: ChatPage) -> None:
    assert chat.page.evaluate(CORNERS) == [0, 0]  # the gradient ends where the box begins

"""Characters that hide something are seen."""

from chat.rendering.characters import neutralise_code, neutralise_controls
from chat.rendering.markdown import render


def test_control_characters_are_shown_as_their_pictures():
    assert neutralise_controls("\0\x07\x1b[31m\x7f") == "␀␇␛[31m␡"
    assert render("a\x1bb\0") == ['<p dir="auto">a␛b␀</p>']


def test_each_control_character_becomes_one_mark():
    assert neutralise_controls("a\x85b\x9b\ud800") == "a�b��"


def test_lines_and_tabs_stay():
    assert neutralise_controls("a\tb\r\nc") == "a\tb\r\nc"


def test_no_text_is_written_backwards():
    assert render("file\u202egpj.exe") == ['<p dir="auto">file�gpj.exe</p>']
    assert neutralise_controls("\u202d") == "�"


def test_code_does_not_change_its_direction():
    code = "if x:\u2066 # \u2069\u202a"
    assert neutralise_code(code) == "if x:� # ��"
    assert "�" in render(f"`{code}`")[0]
    assert "\u2066" not in render(f"```\n{code}\n```")[0]


def test_right_to_left_scripts_keep_their_marks_in_prose():
    assert "\u2067\u05d0\u2069\u200f" in render("\u2067\u05d0\u2069\u200f")[0]


def test_no_offset_changes():
    text = "".join(map(chr, range(0x3000))) + "\ud800\U0001f600"
    assert len(neutralise_controls(text)) == len(text)


def test_each_kind_of_line_ending_ends_a_line():
    assert render("a\r\rb\r\n\r\nc") == ['<p dir="auto">a</p>', '<p dir="auto">b</p>', '<p dir="auto">c</p>']

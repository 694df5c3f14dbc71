"""The signs of symbol fonts, in whatever way a file has them."""

import pytest

from chat.files.confined.fonts import UNKNOWN, sign_of, text_in


@pytest.mark.parametrize(
    ("text", "font", "wanted"),
    [
        ("m D £ \uf06d", "Symbol", "μ Δ ≤ μ"),
        ("a\xa0→b", "symbol ", "α\xa0→β"),
        ("ü û o à \uf0fc", "Wingdings", "✓ ✗ □ → ✓"),
        ("P", "Wingdings 2", "✓"),
        ("pq", "Wingdings 3", "▲▼"),
        ("a", "Webdings", "✔"),
        ("4l\xac\xd5", "ZapfDingbats", "✔●①→"),
        ("m", "Arial", "m"),
    ],
)
def test_letters_in_a_symbol_font_are_signs(text: str, font: str, wanted: str) -> None:
    assert text_in(text, font) == wanted


def test_a_font_for_signs_alone_leaves_letters() -> None:
    assert text_in("\uf0e0 à la", "Wingdings", private_only=True) == "→ à la"


@pytest.mark.parametrize(
    ("code", "font", "wanted"),
    [
        (0xF061, "Webdings", "✔"),
        (0x61, "Webdings", "✔"),
        (0xF08C, "Wingdings", "➊"),
        (0xF070, "Wingdings 3", "▲"),
        (0xF061, "MT Extra", UNKNOWN),
        (0xF09F, "Symbol", UNKNOWN),
        (0x263A, "Segoe UI Symbol", "☺"),
        (0x263A, "Wingdings", "☺"),
        (0x110000, "Arial", UNKNOWN),
    ],
)
def test_a_sign_is_there_or_marked(code: int, font: str, wanted: str) -> None:
    assert sign_of(code, font) == wanted

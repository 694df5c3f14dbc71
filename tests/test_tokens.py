"""The visual language: contrast in both schemes, for any colour that a site takes as its own."""

import math
import re

import pytest

from chat.views import site
from tests.support.databases import ROOT

CSS = ROOT / "static" / "css"
TOKENS = (CSS / "tokens.css").read_text("utf-8")
PAIR = re.compile(r"--([\w-]+): light-dark\(#(\w+), #(\w+)\);")
COLOURS = {name: (light, dark) for name, light, dark in PAIR.findall(TOKENS)}
BRANDS = re.findall(r"--brand-\w+: #(\w{6});", TOKENS)
ACCENT = re.search(
    r"--accent: light-dark\(oklch\(from var\(--brand\) min\(l, ([\d.]+)\) min\(c, ([\d.]+)\) h\), "
    r"oklch\(from var\(--brand\) max\(l, ([\d.]+)\) min\(c, ([\d.]+)\) h\)\);",
    TOKENS,
)
GROUNDS = ("ground", "aside", "raised", "soft", "chosen")
TEXTS = ("text", "muted", "danger", "blue", "orange", "green", "violet", "teal", "gold")
SWEEP = [
    (lightness, chroma, hue)
    for lightness in (0.0, 0.25, 0.5, 0.75, 1.0)
    for chroma in (0.0, 0.1, 0.2, 0.37)
    for hue in range(0, 360, 10)
]

Oklab = tuple[float, float, float]


def oklab(digits: str) -> Oklab:
    """Return a colour of three or six hexadecimal digits in Oklab: https://bottosson.github.io/posts/oklab/."""
    whole = digits if len(digits) == 6 else "".join(2 * digit for digit in digits)
    channels = [int(whole[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    medium = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


def luminance(colour: Oklab) -> float:
    """Return the relative luminance of WCAG 2, of a colour that is clipped to what a screen shows."""
    lightness, a, b = colour
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    red, green, blue = (min(1, max(0, value)) for value in linear)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Oklab, other: Oklab) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def mixed(one: Oklab, other: Oklab, share: float) -> Oklab:
    """Return what `color-mix(in oklab, one, other share)` is."""
    return tuple(a * (1 - share) + b * share for a, b in zip(one, other, strict=True))  # type: ignore[return-value]


def accent(brand: tuple[float, float, float], scheme: int) -> Oklab:
    """Return the accent that this lightness, chroma and hue give."""
    assert ACCENT
    most, chroma, least, chroma_dark = map(float, ACCENT.groups())
    lightness = max(brand[0], least) if scheme else min(brand[0], most)
    strength = min(brand[1], chroma_dark if scheme else chroma)
    hue = math.radians(brand[2])
    return lightness, strength * math.cos(hue), strength * math.sin(hue)


def polar(colour: Oklab) -> tuple[float, float, float]:
    lightness, a, b = colour
    return lightness, math.hypot(a, b), math.degrees(math.atan2(b, a))


def token(name: str, scheme: int) -> Oklab:
    return oklab(COLOURS[name][scheme])


def share_of(name: str) -> float:
    found = re.search(rf"--{name}: color-mix\(in oklab, var\(--accent\)(?:, var\(--text\))? (\d+)%", TOKENS)
    assert found
    return int(found[1]) / 100


def test_the_arithmetic_is_that_of_the_standard() -> None:
    assert contrast(oklab("fff"), oklab("000000")) == pytest.approx(21, abs=0.01)
    assert contrast(oklab("fff"), oklab("767676")) == pytest.approx(4.54, abs=0.01)
    assert polar(oklab("ff0000")) == pytest.approx((0.628, 0.2577, 29.23), abs=0.01)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ground", GROUNDS)
def test_each_text_can_be_read_on_each_ground(ground: str, scheme: int) -> None:
    for text in TEXTS:
        assert contrast(token(text, scheme), token(ground, scheme)) >= 4.5, text
    if ground != "chosen":
        assert contrast(token("edge", scheme), token(ground, scheme)) >= 3


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_errors_and_found_words_can_be_read(scheme: int) -> None:
    assert contrast(token("danger", scheme), token("danger-soft", scheme)) >= 4.5
    for text in ("text", "muted"):
        assert contrast(token(text, scheme), token("danger-soft", scheme)) >= 4.5
    assert contrast(token("text", scheme), token("mark", scheme)) >= 4.5


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["ground", "aside"])
def test_the_edge_of_something_wide_is_seen(ground: str, scheme: int) -> None:
    digits = COLOURS["shade"][scheme]
    opacity = int((digits[-1] * 2) if len(digits) == 4 else digits[6:], 16) / 255
    over = oklab(digits[:-1] if len(digits) == 4 else digits[:6])
    under = token(ground, scheme)
    assert 1.35 <= contrast(mixed(under, over, opacity), under) <= 2


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_any_colour_of_a_site_becomes_an_accent_that_can_be_read(scheme: int) -> None:
    text, ground = token("text", scheme), token("ground", scheme)
    for brand in [*SWEEP, *(polar(oklab(digits)) for digits in BRANDS)]:
        colour = accent(brand, scheme)
        for name in GROUNDS:
            assert contrast(colour, token(name, scheme)) >= 4.5, (brand, name)
        tint = mixed(ground, colour, share_of("accent-soft"))
        assert contrast(colour, tint) >= 4.5, brand
        assert contrast(text, tint) >= 7, brand
        for state in (0, share_of("accent-hover"), share_of("accent-press")):
            assert contrast(mixed(colour, text, state), token("on-accent", scheme)) >= 4.5, (brand, state)


def test_the_colours_to_choose_from_are_told_apart() -> None:
    assert len(BRANDS) == len(set(BRANDS)) == 7
    assert min(contrast(oklab(digits), oklab("fff")) for digits in BRANDS) >= 4.5
    named = dict(re.findall(r"--brand-(\w+): (#\w{6});", TOKENS))
    assert named.pop("petrol") == site.COLOURS[""]
    assert named == {name: colour for name, colour in site.COLOURS.items() if name}


# What may differ, and why.
EXCEPTIONS = {
    "text_beside.css: background: #fff": "a document that names no colours is made for a white sheet",
    "chat.css: mask: linear-gradient(#000 80%, #0004)": "a mask has opacity, not colour",
}
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
DECLARATION = re.compile(r"(?<![\w-])(-?-?[a-z][a-z-]*)\s*:\s*([^;{}]+)(?=[;}])")
COLOUR = re.compile(
    r"#[0-9a-fA-F]{3,8}\b|\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch)\(|\b(?:white|black|gr[ae]y)\b"
)
OWN_SIZE = re.compile(r"var\(--size-[a-z]+\)|[\d.]+(?:em|%)|inherit|0")
FONT = re.compile(rf"(?:inherit|(?:[1-9]00 )?(?:{OWN_SIZE.pattern})(?:/[\d.]+)? [^\d].*)", re.DOTALL)
RADIUS = re.compile(r"(?:var\(--(?:round[a-z-]*|pill)\)|calc\([^\d]*\)|inherit|0|\s|/)+")


def literals(sheet: str) -> list[str]:
    """Return the declarations of a colour, font size or radius that is no token."""
    found = []
    for name, value in DECLARATION.findall(COMMENT.sub("", sheet)):
        text = " ".join(value.split())
        wrong = (
            bool(COLOUR.search(re.sub(r'"[^"]*"|color-mix\(in \w+', "", text)))
            or (name == "font-size" and not OWN_SIZE.fullmatch(text))
            or (name == "font" and not FONT.fullmatch(text))
            or (name.startswith("border") and name.endswith("radius") and not RADIUS.fullmatch(text))
        )
        if wrong:
            found.append(f"{name}: {text}")
    return found


def test_every_sheet_speaks_the_one_language() -> None:
    found = [
        f"{path.name}: {each}"
        for path in sorted(CSS.glob("*.css"))
        if path.name != "tokens.css"
        for each in literals(path.read_text("utf-8"))
    ]
    assert sorted(found) == sorted(EXCEPTIONS)
    assert len(EXCEPTIONS) <= 10


@pytest.mark.parametrize(
    "wrong",
    ["color: #123", "background: white", "fill: rgb(0 0 0)", "font-size: 1.1rem", "font: 500 14px/1.5 serif",
     "border-radius: 7px", "border-end-end-radius: .5rem", "--own: #fff"],
)  # fmt: skip
def test_a_word_of_another_language_would_be_noticed(wrong: str) -> None:
    assert literals(f"p {{ margin: 0; {wrong}; }}") == [wrong]


def test_every_property_that_a_sheet_uses_is_there() -> None:
    known = set(re.findall(r"(--[\w-]+):", TOKENS))
    for path in CSS.glob("*.css"):
        text = COMMENT.sub("", path.read_text("utf-8"))
        own = set(re.findall(r"(--[\w-]+):", text))
        for used in set(re.findall(r"var\((--[\w-]+)\)", text)):
            assert used in known | own | {"--topbar", "--above", "--word"}, f"{path.name} has {used}"


def test_the_browser_frames_a_page_in_its_ground() -> None:
    light, dark = COLOURS["ground"]
    base = (ROOT / "templates/base.html").read_text("utf-8")
    assert set(re.findall(r'name="theme-color"[^>]* content="#(\w+)"', base)) == {light, dark}
    manifest = (ROOT / "static/chat.webmanifest").read_text("utf-8")
    assert set(re.findall(r'_color": "#(\w+)"', manifest)) == {light}
    icon = (ROOT / "static/img/icon.svg").read_text("utf-8")
    assert f"#{BRANDS[0]}" in icon

"""Data URLs in texts: their places are named, the words around them are kept, and no Base64 is left."""

import base64

import pytest

from chat.transfer.formats.pictures import data_url, take_out

BYTES = bytes(range(256))
BASE64 = base64.b64encode(BYTES).decode()
URL = f"data:image/png;base64,{BASE64}"
LINES = "\n".join(BASE64[at : at + 76] for at in range(0, len(BASE64), 76))
TINY = "data:image/gif;base64,R0lGODlhAQABAAAAACw="


@pytest.mark.parametrize(
    ("text", "left", "names"),
    [
        (f"a ![photo]({URL}) b", "a [picture: photo] b", ["photo"]),
        (f'a ![photo]({URL} "A title") b', "a [picture: photo] b", ["photo"]),
        (f"a ![]({URL}) b", "a [picture: picture.png] b", ["picture.png"]),
        (f"a ![photo](<{URL}>) b", "a [picture: photo] b", ["photo"]),
        (f"[![photo]({URL})](https://a.example)", "[[picture: photo]](https://a.example)", ["photo"]),
        (f'a <img src="{URL}" alt="my &amp; cat"> b', "a [picture: my & cat] b", ["my & cat"]),
        (f"a <IMG alt='cat' src='{URL}'/> b", "a [picture: cat] b", ["cat"]),
        (f"a <img src={URL}> b", "a [picture: picture.png] b", ["picture.png"]),
        (
            f'<img src="{URL}" srcset="{URL} 2x">',
            '<img src="[picture: picture.png]" srcset="[picture: picture.png] 2x">',
            ["picture.png"] * 2,
        ),
        (f"a {URL} b", "a [picture: picture.png] b", ["picture.png"]),
        (f"({URL})", "([picture: picture.png])", ["picture.png"]),
        (f"url({URL})", "url([picture: picture.png])", ["picture.png"]),
        (f'{{"image": "{URL}"}}', '{"image": "[picture: picture.png]"}', ["picture.png"]),
        (f"![][i]\n\n[i]: <{URL}>", "![][i]\n\n[picture: i]", ["i"]),
        (f"![a]({URL})![b]({URL})", "[picture: a][picture: b]", ["a", "b"]),
        (f"![photo](data:image/png;base64,{LINES})", "[picture: photo]", ["photo"]),
        (f"![photo](data:image/png;base64,{LINES}\n)", "[picture: photo]", ["photo"]),
        (
            f"data:image/png;base64,{LINES}\n\nNext words",
            "[picture: picture.png]\n\nNext words",
            ["picture.png"],
        ),
        (f"a ![p]({URL.upper()[:22]}{BASE64}) b", "a [picture: p] b", ["p"]),
        (f"![v](data:image/svg+xml;charset=utf-8;base64,{BASE64})", "[picture: v]", ["v"]),
        ("![v](data:image/svg+xml,%3Csvg%20a%3D%22b%22%3E%3C/svg%3E)", "[picture: v]", ["v"]),
        (f"![w](data:image/webp;base64,{BASE64})", "[picture: w]", ["w"]),
        (f"![w](data:image/avif;base64,{BASE64})", "[picture: w]", ["w"]),
        (f"[s](data:audio/wav;base64,{BASE64})", "[recording: s]", ["s"]),
        (f"[my.pdf](data:application/pdf;base64,{BASE64})", "[file: my.pdf]", ["my.pdf"]),
        (f"![broken](data:image/png;base64,{BASE64[:99]}!!!{BASE64})", "[picture: broken]", ["broken"]),
        (f"a data:image/png;base64,{BASE64}!!{BASE64} b", "a [picture: picture.png] b", ["picture.png"]),
        (
            f"<img src='data:image/png;base64,{BASE64}?{'x' * 30}?{BASE64}'>",
            "[picture: picture.png]",
            ["picture.png"],
        ),
        ("![empty](data:image/png;base64,)", "[picture: empty]", ["empty"]),
        (f"`{TINY}` is short", f"`{TINY}` is short", []),
        ("Write data:image/png;base64,… there", "Write data:image/png;base64,… there", []),
        ("The data: image, text", "The data: image, text", []),
        ("see ![x](https://a.example/x.png)", "see ![x](https://a.example/x.png)", []),
    ],
)
def test_a_data_url_is_named_at_its_place(text: str, left: str, names: list[str]) -> None:
    shown, found = take_out(text)
    assert (shown, [each.name for each in found]) == (left, names)


def test_the_bytes_are_found_in_each_way_of_writing_them() -> None:
    url_safe = base64.urlsafe_b64encode(BYTES).decode().rstrip("=")
    for body in (BASE64, LINES, url_safe, BASE64.replace("/", "%2F").replace("=", "%3D")):
        ((_, found),) = [take_out(f"![x](data:image/png;base64,{body})")]
        assert [each.content for each in found] == [BYTES]
    broken = data_url("data:image/png;base64,A")
    assert broken
    assert broken.content is None
    svg = data_url("data:image/svg+xml,%3Csvg%2F%3E")
    assert svg
    assert (svg.content, svg.media_type) == (b"<svg/>", "image/svg+xml")
    assert data_url("https://a.example/x.png") is None


def test_many_and_large_ones_are_found() -> None:
    """Expect an end: in quadratic time, these texts would take hours."""
    large = f"![big](data:image/png;base64,{'A' * 8_000_000}) end"
    many = "![x](data:image/png;base64,QUJD) <img src='" * 50_000
    assert take_out(large)[0] == "[picture: big] end"
    assert "base64" not in take_out(many)[0]
    brackets = "[" * 200_000 + "data:image/png;base64,"
    assert take_out(brackets) == (brackets, [])

"""Names of pictures: what remains of a client's file name."""

import pytest

from chat.files.uploads import clean
from chat.limits import MAX_FILE_NAME_CHARS


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("cat.jpg", "cat.jpg"),
        ("cat.jpeg", "cat.jpg"),
        ("cat.HEIC", "cat.jpg"),
        ("cat", "cat.jpg"),
        ("holiday.2026.webp", "holiday.2026.jpg"),
        ("Dr. Who met us", "Dr. Who met us.jpg"),
        ("../../etc/passwd", "passwd.jpg"),
        ("C:\\Users\\ann\\cat.png", "cat.jpg"),
        ("/", "picture.jpg"),
        ("", "picture.jpg"),
        ("..", "picture.jpg"),
        (".htaccess", "htaccess.jpg"),
        ("cat.jpg\0.exe", "cat.jpg.jpg"),
        ("cat\r\nSet-Cookie: a=b.jpg", "catSet-Cookie: a=b.jpg"),
        ("\u202egpj.exe", "gpj.jpg"),
        ("a\u2066b\u200bc\ufeff.png", "abc.jpg"),
        ("a\u2028b\u2029c\x7f.png", "abc.jpg"),
        ("half\ud83d.png", "half.jpg"),
        ('quo"te;a=b.svg', 'quo"te;a=b.jpg'),
        ("  two   spaces .png", "two spaces.jpg"),
        ("猫.png", "猫.jpg"),
    ],
)
def test_a_name_is_harmless_and_tells_the_type(name: str, wanted: str) -> None:
    assert clean(name, "image/jpeg") == wanted


def test_a_long_name_is_cut_before_its_extension() -> None:
    found = clean("x" * 5_000 + ".jpg", "image/png")
    assert (len(found), found[-5:]) == (MAX_FILE_NAME_CHARS, "x.png")

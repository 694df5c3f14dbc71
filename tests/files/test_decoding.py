"""Decoding: what becomes of sound pictures, and what is said of hostile ones."""

import io
import random
import struct
import tempfile
import zlib
from contextlib import suppress
from typing import Any

import pytest
from PIL import Image, ImageCms, ImageFile, PngImagePlugin

from chat.exceptions import RequestError
from chat.files import decoding, reading
from chat.files.confined import pictures as confined
from chat.files.decoding import EncodedPicture, decode
from chat.files.problems import Unreadable
from tests.files import extracting, pictures

NEAR = 24  # the largest difference of a channel that JPEG makes here


def converted(content: bytes) -> EncodedPicture:
    """Return the picture that `decoded` would, without the child process."""
    described, stored = confined.convert(io.BytesIO(content))
    return EncodedPicture(stored, **described)


def decoded(content: bytes) -> EncodedPicture:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        return decode(file)


def refused(content: bytes) -> str:
    return extracting.refused(content, read=lambda file, _name: decode(file))


def near(colour: Any, wanted: tuple[int, ...]) -> bool:
    return all(abs(a - b) <= NEAR for a, b in zip(colour, wanted, strict=True))


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_a_photograph_becomes_a_jpeg(form: str) -> None:
    picture = decoded(pictures.encoded(pictures.gradient(), form))
    assert (picture.media_type, picture.width, picture.height) == ("image/jpeg", 64, 48)
    assert pictures.opened(picture.content).format == "JPEG"


@pytest.mark.parametrize("form", ["PNG", "WEBP", "GIF"])
def test_a_picture_of_few_colours_stays_exact(form: str) -> None:
    picture = Image.new("RGB", (400, 300), (10, 200, 30))
    picture.paste((250, 0, 0), (50, 50, 350, 250))
    found = converted(pictures.encoded(picture, form, **({"lossless": True} if form == "WEBP" else {})))
    assert found.media_type == "image/png"
    shown = pictures.opened(found.content).convert("RGB")
    assert (shown.getpixel((0, 0)), shown.getpixel((60, 60))) == ((10, 200, 30), (250, 0, 0))


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
def test_transparency_is_kept(form: str) -> None:
    picture = pictures.gradient()
    picture.putalpha(Image.linear_gradient("L").resize(picture.size))
    found = converted(pictures.encoded(picture, form))
    assert found.media_type == "image/png"
    assert pictures.opened(found.content).getextrema()[3] == picture.getextrema()[3]


def test_a_transparent_gif_and_its_first_frame() -> None:
    frames = [Image.new("RGBA", (30, 20), colour) for colour in ((0, 0, 255, 255), (255, 0, 0, 255))]
    frames[0].paste((0, 0, 0, 0), (0, 0, 15, 20))
    content = pictures.encoded(frames[0], "GIF", save_all=True, append_images=frames[1:], disposal=2)
    shown = pictures.opened(converted(content).content).convert("RGBA")
    assert shown.getpixel((2, 2))[3] == 0
    assert shown.getpixel((20, 10)) == (0, 0, 255, 255)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "I;16", "CMYK"])
def test_every_kind_of_pixels_keeps_its_light_and_dark(mode: str) -> None:
    grey = Image.new("L", (60, 40), 240)
    grey.paste(10, (0, 0, 30, 40))
    picture = (
        grey.point(lambda level: level * 256, "I").convert(mode) if mode[0] == "I" else grey.convert(mode)
    )
    content = pictures.encoded(picture, "JPEG" if mode == "CMYK" else "PNG")
    shown = pictures.opened(converted(content).content).convert("L")
    dark, light = shown.getpixel((5, 5)), shown.getpixel((55, 35))
    assert dark < 40
    assert light > 215


@pytest.mark.parametrize(
    ("turn", "corner"), [(1, "red"), (2, "green"), (3, "white"), (4, "blue"), (6, "blue"), (8, "green")]
)
def test_the_picture_stands_as_its_camera_was_held(turn: int, corner: str) -> None:
    colours = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255), "white": (255, 255, 255)}
    picture = Image.new("RGB", (80, 40))
    for name, box in zip(
        colours, ((0, 0, 40, 20), (40, 0, 80, 20), (0, 20, 40, 40), (40, 20, 80, 40)), strict=True
    ):
        picture.paste(colours[name], box)
    exif = Image.Exif()
    exif[0x0112] = turn
    found = converted(pictures.encoded(picture, "JPEG", exif=exif, quality=95))
    assert (found.width, found.height) == ((80, 40) if turn < 5 else (40, 80))
    assert near(pictures.opened(found.content).convert("RGB").getpixel((4, 4)), colours[corner])


def test_no_metadata_is_left() -> None:
    exif = Image.Exif()
    exif[0x010F] = "Secretcam"
    exif.get_ifd(0x8825)[2] = (48.0, 51.0, 24.0)
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Comment", "Secretcomment")
    for content in (
        pictures.jpeg(exif=exif, comment=b"Secretcomment", xmp=b"<x>Secretxmp</x>"),
        pictures.encoded(pictures.gradient(), "PNG", exif=exif, pnginfo=notes),
        pictures.encoded(pictures.gradient(), "WEBP", exif=exif, xmp=b"Secretxmp"),
        pictures.encoded(Image.new("RGB", (9, 9), "red"), "PNG", exif=exif, pnginfo=notes),
    ):
        assert b"Secret" in content
        found = converted(content).content
        assert b"Secret" not in found
        assert b"Exif" not in found
        assert not pictures.opened(found).getexif()


def test_colours_are_those_of_the_profile() -> None:
    # A profile whose red and green are exchanged, as no reader without colour management would notice.
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    red, green = profile.index(b"rXYZ"), profile.index(b"gXYZ")
    profile[red : red + 4], profile[green : green + 4] = b"gXYZ", b"rXYZ"
    picture = Image.new("RGB", (40, 40), (255, 0, 0))
    content = pictures.encoded(picture, "JPEG", icc_profile=bytes(profile), quality=95)
    found = pictures.opened(converted(content).content)
    assert near(found.convert("RGB").getpixel((9, 9)), (0, 255, 0))
    assert "icc_profile" not in found.info


def test_a_broken_profile_is_ignored() -> None:
    content = pictures.jpeg(icc_profile=b"\0\0\0\x84acsp" + b"x" * 200)
    assert converted(content).media_type == "image/jpeg"


@pytest.mark.parametrize(
    ("size", "wanted"),
    [
        ((300, 200), (300, 200)),
        ((4000, 3000), (2048, 1536)),
        ((5000, 2500), (2048, 1024)),
        ((1000, 9000), (682, 6144)),  # the screenshot of a page: its words can be read
        ((9000, 1000), (6144, 682)),
        ((10, 6000), (10, 6000)),
        ((10, 60_000), (1, 8192)),
    ],
)
def test_the_long_side_has_2048_pixels_or_more_if_narrow(
    size: tuple[int, int], wanted: tuple[int, int]
) -> None:
    found = converted(pictures.encoded(Image.new("L", size, 99), "JPEG"))
    assert (found.width, found.height) == wanted


def test_a_picture_is_stored_in_four_megabytes() -> None:
    noise = Image.open(io.BytesIO(pictures.noise(2048, 2048)))
    noise.putalpha(Image.linear_gradient("L").resize(noise.size))
    found = converted(pictures.encoded(noise, "PNG", compress_level=1))
    assert found.media_type == "image/jpeg"
    assert len(found.content) < 4_000_000


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def bomb(width: int, height: int, rows: int = 1) -> bytes:
    """A tiny PNG that says it is huge, of black pixels."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    data = zlib.compress(b"\0" * ((1 + width * 3) * rows), 9)
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", data) + chunk(b"IEND", b"")


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
JPEG, GIF = pictures.jpeg(), pictures.encoded(pictures.gradient(), "GIF")


@pytest.mark.parametrize(
    ("content", "refusal"),
    [
        (SVG, "415 not_a_picture"),
        (b"<!doctype html><script>alert(1)</script>", "415 not_a_picture"),
        (b"%PDF-1.7\n%\xe2\xe3", "415 not_a_picture"),
        (b"PK\x03\x04" + b"\0" * 60, "415 not_a_picture"),
        (b"\x7fELF" + b"\0" * 60, "415 not_a_picture"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "415 not_a_picture"),
        (pictures.encoded(pictures.gradient(), "TIFF"), "415 not_a_picture"),
        (pictures.encoded(pictures.gradient(), "BMP"), "415 not_a_picture"),
        (pictures.encoded(pictures.gradient(), "PPM"), "415 not_a_picture"),
        (pictures.encoded(pictures.gradient(), "ICO"), "415 not_a_picture"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "415 not_a_picture"),
        (b"\0\0\0\x1cftypavif\0\0\0\0avifmif1", "415 not_a_picture"),
        (b"x", "415 not_a_picture"),
        (b"\xff\xd8\xff", "415 not_a_picture"),
        (JPEG[:400], "422 broken_picture"),
        (JPEG[: len(JPEG) // 2], "422 broken_picture"),
        (pictures.png()[:60], "422 broken_picture"),
        (bomb(8_000, 8_000), "422 too_many_pixels"),
        (bomb(2_000_000_000, 2_000_000_000, rows=0), "422 too_many_pixels"),
        (bomb(0, 9), "415 not_a_picture"),
        (GIF[:6] + struct.pack("<HH", 60_000, 60_000) + GIF[10:], "422 too_many_pixels"),
    ],
)
def test_unreadable_files_are_refused(content: bytes, refusal: str) -> None:
    assert refused(content) == refusal


def test_a_bomb_within_the_limits_costs_little() -> None:
    found = decoded(bomb(7_000, 7_000, 7_000))
    assert (found.width, found.height, len(found.content) < 100_000) == (2048, 2048, True)


def test_hidden_data_of_a_picture_is_removed() -> None:
    script = b"<script>alert(1)</script>"
    for content in (JPEG + script, pictures.png() + b"PK\x03\x04" + script, pictures.jpeg(comment=script)):
        found = decoded(content).content
        assert script not in found
        assert b"PK\x03\x04" not in found


def test_a_text_bomb_in_a_png_is_refused() -> None:
    text = chunk(b"zTXt", b"a\0\0" + zlib.compress(b"\0" * 300_000_000, 9))
    png = pictures.png()
    assert refused(png[:33] + text + png[33:]) == "422 broken_picture"


@pytest.mark.parametrize("seed", range(12))
def test_damaged_bytes_end_in_a_picture_or_a_refusal(seed: int) -> None:
    chance = random.Random(seed)
    forms = (JPEG, pictures.png(), pictures.encoded(pictures.gradient(), "WEBP"), GIF)
    content = bytearray(forms[seed % len(forms)])
    for _ in range(8):
        content[chance.randrange(len(content))] = chance.randrange(256)
    with suppress(Unreadable):
        found = decoded(bytes(content))
        assert pictures.opened(found.content).size == (found.width, found.height)


NOISE = Image.frombytes("RGB", (120, 80), random.Random(1).randbytes(120 * 80 * 3))
WHOLE = {
    "JPEG": pictures.encoded(NOISE, "JPEG"),
    "progressive JPEG": pictures.encoded(NOISE, "JPEG", progressive=True),
    "JPEG of a camera": pictures.encoded(NOISE, "JPEG", exif=b"Exif\0\0" + bytes(2_000)),
    "PNG": pictures.encoded(NOISE, "PNG"),
    "PNG with a palette": pictures.encoded(NOISE.convert("P"), "PNG"),
    "PNG with transparency": pictures.encoded(NOISE.convert("RGBA"), "PNG"),
    "PNG of 16 bits": pictures.encoded(
        Image.frombytes("I;16", (120, 80), random.Random(1).randbytes(19_200)), "PNG"
    ),
    "GIF": pictures.encoded(NOISE.convert("P"), "GIF"),
    "GIF that moves": pictures.encoded(NOISE, "GIF", save_all=True, append_images=[NOISE.rotate(180)]),
    "WebP": pictures.encoded(NOISE, "WEBP"),
    "lossless WebP": pictures.encoded(NOISE, "WEBP", lossless=True),
}
SHOWN_IN_PART = [name for name in WHOLE if "WebP" not in name]


@pytest.mark.parametrize("form", WHOLE)
def test_of_a_picture_that_ends_too_early_its_beginning_is_shown(form: str) -> None:
    """Or it is called incomplete: where nothing of it is there, and WebP, which is decoded as a whole."""
    whole = WHOLE[form]
    lengths = [12, 14, 33, 60, 200, *(len(whole) * part // 100 for part in (1, 5, 50, 80, 95, 99))]
    for length in [*lengths, len(whole) - 1]:
        try:
            found = converted(whole[:length])
        except (confined.Problem, OSError):
            assert form not in SHOWN_IN_PART or length < len(whole) // 5
        else:
            assert (found.width, found.height) == NOISE.size
            assert pictures.opened(found.content).convert("RGB").getpixel((0, 0)) != (0, 0, 0)
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES = False


@pytest.mark.parametrize(
    ("length", "code"), [(12, "415 not_a_picture"), (20, "422 broken_picture"), (50, "422 broken_picture")]
)
def test_a_picture_without_pixels_is_said_to_be_incomplete(length: int, code: str) -> None:
    assert refused(pictures.png()[:length]) == code
    with pytest.raises(RequestError, match="incomplete"):
        decoded(pictures.png()[:length])


@pytest.mark.parametrize("brand", confined.HEIF_BRANDS)
def test_pictures_of_phones_have_a_sentence_of_their_own(brand: bytes) -> None:
    content = b"\0\0\0\x18ftyp" + brand + bytes(20_000)
    for buffering in (0, 8_192, 131_072):
        with tempfile.TemporaryFile(buffering=buffering) as file:
            file.write(content)
            with pytest.raises(RequestError, match="HEIC and AVIF"):
                reading.read(file, "photo.jpg")


def test_a_child_that_takes_too_long_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(60)")
    monkeypatch.setattr(decoding, "PICTURE_READER", tmp_path / "slow.py")
    monkeypatch.setattr(decoding, "DECODING_WALL_SECONDS", 0.5)
    assert refused(JPEG) == "422 picture_took_too_long"

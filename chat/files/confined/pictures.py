"""The child process that decodes one picture of unknown origin and encodes it again.

It runs in `process.py`, reads the file that is its standard input, and writes one line of JSON to
its standard output. With an argument, the side of a square in pixels, it cuts and scales the picture to it.

The line has `media_type`, `width` and `height`, and the bytes of the new picture follow; or it has `problem`:
"type", "head" (only the beginning is a picture's), "heic", "pixels" or "broken".
"""

import contextlib
import io
import json
import sys
from typing import Any, BinaryIO

from .problem import Problem

MAX_PIXELS = 50_000_000
SIDE_PIXELS = 2_048  # pixels: the longest side, and that of the square that no picture has more pixels than
# For a picture that is more than twice as long as wide, such as the screenshot of a whole page: with 2,048
# pixels on its long side, its words could not be read.
NARROW_SIDE_PIXELS, MAX_LONG_SIDE_PIXELS = 1_024, 8_192
MAX_STORED_BYTES = 4_000_000  # a PNG beyond it becomes a JPEG
PALETTE_COLORS = 256
JPEG_QUALITY = 88
PICTURE_FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
PICTURE_BEGINNINGS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a")
PICTURE_HEAD_BYTES = 12
HEIF_BRANDS = (
    *(b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"),
    *(b"mif1", b"msf1", b"avif", b"avis"),
)
ORIENTATION = 0x0112  # the tag in Exif


def is_picture(head: bytes) -> bool:
    """Return True if these are the first bytes of a picture, also of a kind that can't be read here."""
    if head.startswith(PICTURE_BEGINNINGS):
        return True
    return (head[:4] == b"RIFF" and head[8:12] == b"WEBP") or is_heif(head)


def is_heif(head: bytes) -> bool:
    return head[4:8] == b"ftyp" and head[8:12] in HEIF_BRANDS


def convert(source: BinaryIO, side: int = 0) -> tuple[dict[str, Any], bytes]:
    """Return what the picture is, and its bytes; with a `side`, its middle as a square. Raises Problem."""
    try:
        picture = colours(opened(source))
    except OSError:
        picture = beginning(source)
    whole = upright(srgb(smaller(picture)))
    return encode(square(whole, side) if side else whole)


def opened(source: BinaryIO) -> Any:
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # compared below, with an error of our own
    source.seek(0)
    head = source.read(PICTURE_HEAD_BYTES)
    source.seek(0)
    if is_heif(head):
        raise Problem("heic")
    try:
        picture = Image.open(source, formats=PICTURE_FORMATS)
    except Image.UnidentifiedImageError:
        raise Problem("head" if is_picture(head) else "type") from None
    if picture.width * picture.height > MAX_PIXELS:
        raise Problem("pixels")
    # A large JPEG is decoded at a half, a quarter or an eighth.
    picture.draft(None, (SIDE_PIXELS, SIDE_PIXELS))
    return picture


def beginning(source: BinaryIO) -> Any:
    """Return what is there of a picture whose file ends too early, as browsers show it. Raises Problem."""
    from PIL import ImageFile

    ImageFile.LOAD_TRUNCATED_IMAGES = True
    picture = colours(opened(source))
    if picture.getcolors(1):  # one colour: nothing of it
        raise Problem("broken")
    return picture


def colours(picture: Any) -> Any:
    """Return the picture decoded, its palette resolved, 16 bits a channel reduced to 8."""
    picture.load()
    profile = picture.info.get("icc_profile")
    turned = orientation(picture)
    if picture.mode.startswith("I"):
        picture = picture.point(lambda level: level / 256).convert("L")
    elif "transparency" in picture.info or picture.mode == "PA":
        picture = picture.convert("RGBA")
    elif picture.mode in ("1", "P"):
        picture = picture.convert("RGB")
    picture.info = {"icc_profile": profile, "orientation": turned}
    return picture


def orientation(picture: Any) -> Any:
    """Return the value of the Exif tag; 1, upright, if it cannot be read."""
    try:
        return picture.getexif().get(ORIENTATION, 1)
    except Exception:  # whatever the parser raises for bytes that it did not expect
        return 1


def smaller(picture: Any) -> Any:
    info, size = picture.info, stored_size(*picture.size)
    if size != picture.size:
        picture = picture.resize(size, reducing_gap=2)  # quicker, and looks the same
        picture.info = info
    return picture


def stored_size(width: int, height: int) -> tuple[int, int]:
    """Return the size: its long side is `SIDE_PIXELS`, or its short one `NARROW_SIDE_PIXELS` if that is more.

    It is never larger than the picture, has at most `SIDE_PIXELS` × `SIDE_PIXELS` pixels, and is no longer
    than `MAX_LONG_SIDE_PIXELS`.
    """
    short, long = sorted((width, height))
    narrow = min(
        NARROW_SIDE_PIXELS / short, SIDE_PIXELS / (width * height) ** 0.5, MAX_LONG_SIDE_PIXELS / long
    )
    scale = max(SIDE_PIXELS / long, narrow) + 1e-9  # so that 2047.9999 is 2048
    if scale >= 1:
        return width, height
    return max(1, int(width * scale)), max(1, int(height * scale))


def srgb(picture: Any) -> Any:
    """Return the picture in sRGB, by its profile if it has a sound one."""
    from PIL import ImageCms

    info, profile = picture.info, picture.info["icc_profile"]
    if picture.has_transparency_data:
        picture = picture.convert("RGBA")
    alpha = picture.getchannel("A") if picture.mode == "RGBA" else None
    opaque = picture.convert("RGB") if alpha else picture
    if profile and opaque.mode in ("RGB", "CMYK", "L"):
        # A profile that cannot be used: the colours are taken as they are.
        with contextlib.suppress(ImageCms.PyCMSError, OSError, ValueError):
            opaque = ImageCms.profileToProfile(
                opaque, io.BytesIO(profile), ImageCms.createProfile("sRGB"), outputMode="RGB"
            )
    if opaque.mode not in ("RGB", "L"):
        opaque = opaque.convert("RGB")
    if alpha:
        opaque.putalpha(alpha)
    opaque.info = info
    return opaque


def upright(picture: Any) -> Any:
    """Return the picture turned as its camera was held."""
    from PIL import ImageOps

    picture.getexif()[ORIENTATION] = picture.info["orientation"]
    return ImageOps.exif_transpose(picture)


def square(picture: Any, side: int) -> Any:
    from PIL import ImageOps

    return ImageOps.fit(picture, (side, side))


def encode(picture: Any) -> tuple[dict[str, Any], bytes]:
    """Return the picture as PNG if it is transparent or has few colours and is smaller so, else as JPEG."""
    picture.info = {}
    size = {"width": picture.width, "height": picture.height}
    if picture.mode == "RGBA" and picture.getextrema()[3][0] == 255:
        picture = picture.convert("RGB")
    if picture.mode == "RGBA":
        png = written(picture, "PNG", optimize=False)
        if len(png) <= MAX_STORED_BYTES:
            return {"media_type": "image/png", **size}, png
        picture = on_white(picture)
    jpeg = written(picture, "JPEG", quality=JPEG_QUALITY, progressive=True)
    if picture.getcolors(PALETTE_COLORS) is not None:
        png = written(picture, "PNG", optimize=True)
        if len(png) < len(jpeg):
            return {"media_type": "image/png", **size}, png
    return {"media_type": "image/jpeg", **size}, jpeg


def on_white(picture: Any) -> Any:
    from PIL import Image

    ground = Image.new("RGB", picture.size, "white")
    ground.paste(picture, mask=picture.getchannel("A"))
    return ground


def written(picture: Any, form: str, **options: Any) -> bytes:
    target = io.BytesIO()
    picture.save(target, form, **options)
    return target.getvalue()


def main() -> None:
    try:
        described, content = convert(sys.stdin.buffer, *map(int, sys.argv[1:]))
    except Problem as problem:
        described, content = {"problem": str(problem)}, b""
    except MemoryError:
        described, content = {"problem": "pixels"}, b""
    except Exception:  # whatever a decoder raises for bytes that it did not expect
        described, content = {"problem": "broken"}, b""
    sys.stdout.buffer.write(json.dumps(described).encode() + b"\n" + content)
    sys.stdout.buffer.flush()

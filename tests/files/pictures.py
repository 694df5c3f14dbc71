"""Pictures for tests, made on the spot."""

import io
import random
from typing import Any

from PIL import Image


def encoded(picture: Image.Image, form: str, **options: Any) -> bytes:
    target = io.BytesIO()
    picture.save(target, form, **options)
    return target.getvalue()


def gradient(width: int = 64, height: int = 48) -> Image.Image:
    return Image.merge(
        "RGB",
        [
            Image.linear_gradient("L").resize((width, height)),
            Image.linear_gradient("L").rotate(90).resize((width, height)),
            Image.radial_gradient("L").resize((width, height)),
        ],
    )


def jpeg(width: int = 64, height: int = 48, **options: Any) -> bytes:
    return encoded(gradient(width, height), "JPEG", **options)


def png(width: int = 64, height: int = 48, colour: Any = (255, 0, 0)) -> bytes:
    """A picture of one colour; transparent if the colour has four values and the last is below 255."""
    mode = "RGBA" if len(colour) == 4 else "RGB"
    return encoded(Image.new(mode, (width, height), colour), "PNG")


def opened(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))


def noise(width: int, height: int) -> bytes:
    """A JPEG that hardly compresses."""
    picture = Image.frombytes("RGB", (width, height), random.Random(1).randbytes(width * height * 3))
    return encoded(picture, "JPEG", quality=90)

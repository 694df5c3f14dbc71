"""Screenshots as files: rounded at the corners, in a thin line, without loss."""

from collections.abc import Sequence
from functools import cache
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw

ROUND, WIDTH = 24, 2  # pixels
FINER = 4  # drawn so many times larger, for smooth corners
LINES = {"light": "#d5d7db", "dark": "#3b3e44"}
LOSSLESS = {"lossless": True, "quality": 100, "method": 4}  # 6 takes twenty times as long for 0.2 %


def framed(png: bytes, scheme: str) -> Image.Image:
    shot = Image.open(BytesIO(png)).convert("RGBA")
    inside, line = _masks(shot.size)
    shot.paste(Image.new("RGBA", shot.size, LINES[scheme]), mask=line)
    shot.putalpha(inside)
    return shot


@cache
def _masks(size: tuple[int, int]) -> tuple[Image.Image, Image.Image]:
    """Return the masks of the rounded rectangle's inside and of its border."""
    box = (0, 0, size[0] * FINER - 1, size[1] * FINER - 1)
    inside, line = Image.new("L", (box[2] + 1, box[3] + 1)), Image.new("L", (box[2] + 1, box[3] + 1))
    ImageDraw.Draw(inside).rounded_rectangle(box, ROUND * FINER, fill=255)
    ImageDraw.Draw(line).rounded_rectangle(box, ROUND * FINER, outline=255, width=WIDTH * FINER)
    return inside.resize(size, Image.Resampling.BOX), line.resize(size, Image.Resampling.BOX)


def save(png: bytes, scheme: str, path: Path) -> None:
    framed(png, scheme).save(path, **LOSSLESS)


def save_film(shots: Sequence[tuple[bytes, int]], scheme: str, path: Path) -> None:
    """Pictures and the milliseconds that each stands; it begins anew for ever."""
    first, *rest = (framed(png, scheme) for png, _ in shots)
    durations = [duration for _, duration in shots]
    moving = {"save_all": True, "append_images": rest, "duration": durations, "loop": 0}
    first.save(path, minimize_size=True, **moving, **LOSSLESS)

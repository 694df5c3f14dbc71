"""`make images`: the real server and the real page in a real Chromium; only the model is a fake."""

import argparse
from pathlib import Path

from tests.databases import ROOT
from tests.images import MADE, film, icons, pictures
from tests.images.stage import set_up


def make(folder: Path) -> None:
    with set_up() as stage:
        icons.draw(stage.browser)
        chat = pictures.conversation(stage)
        pictures.chat(stage, chat, "light", folder / "chat-light.webp")
        pictures.chat(stage, chat, "dark", folder / "chat-dark.webp")
        pictures.phone(stage, folder / "phone.webp")
        pictures.review(stage, folder / "review.webp")
        film.reply(stage, folder / "reply.webp", folder / "reply-still.webp")


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the pictures of the README.")
    parser.add_argument("--into", type=Path, default=ROOT / "deploy" / "images", help="a folder")
    folder = parser.parse_args().into
    make(folder)
    for name in MADE:
        print(f"{(folder / name).stat().st_size / 1000:6.1f} kB  {name}")


if __name__ == "__main__":
    main()

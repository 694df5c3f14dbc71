"""`make images`: the real server and the real page in a real Chromium; only the model is a fake."""

import argparse
from pathlib import Path

from tests.support.databases import ROOT
from tests.tools.images import ICONS, PICTURES, film, icons, pictures
from tests.tools.images.stage import set_up


def make(root: Path) -> None:
    shown, drawn = root / PICTURES, root / ICONS
    for folder in (shown, drawn):
        folder.mkdir(parents=True, exist_ok=True)
    with set_up() as stage:
        icons.draw(stage.browser, drawn)
        chat = pictures.conversation(stage)
        pictures.chat(stage, chat, "light", shown / "chat-light.webp")
        pictures.chat(stage, chat, "dark", shown / "chat-dark.webp")
        pictures.phone(stage, shown / "phone.webp")
        pictures.review(stage, shown / "review.webp")
        film.reply(stage, shown / "reply.webp", shown / "reply-still.webp")


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the pictures of the README, and the icons.")
    parser.add_argument("--root", type=Path, default=ROOT, help="the folder that has deploy and static in it")
    make(parser.parse_args().root)


if __name__ == "__main__":
    main()

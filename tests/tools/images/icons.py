"""The icons of the installed chat, drawn from static/img/icon.svg by `make images`."""

from pathlib import Path

from playwright.sync_api import Browser

from tests.support.databases import ROOT

DRAWING = ROOT / "static" / "img" / "icon.svg"
# File: edge in pixels, how much of it the drawing takes, the ground. A launcher may cut 20 % off a maskable
# icon, and iOS puts black behind what is transparent.
SIZES = {
    "icon-192.png": (192, 1.0, "transparent"),
    "icon-512.png": (512, 1.0, "transparent"),
    "icon-maskable.png": (512, 0.6, "#fff"),
    "icon-touch.png": (180, 0.75, "#fff"),
}


def draw(browser: Browser, folder: Path) -> None:
    source = DRAWING.read_text("utf-8")
    for name, (edge, share, ground) in SIZES.items():
        page = browser.new_page(viewport={"width": edge, "height": edge})
        middle = "margin: 0; display: grid; place-items: center; height: 100vh"
        style = f"body {{ {middle}; background: {ground} }} svg {{ width: {share:.0%} }}"
        page.set_content(f"<style>{style}</style>{source}")
        page.screenshot(path=folder / name, omit_background=True)
        page.close()

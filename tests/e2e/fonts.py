"""The fonts that Chromium finds: the same ones on every machine that has them."""

import os
from pathlib import Path

from playwright.sync_api import Browser

# Generic families and the Debian package that has the font which stands for them.
DEJAVU, NOTO = "DejaVu Sans", "Noto Sans"
PACKAGES = {DEJAVU: "fonts-dejavu-core", NOTO: "fonts-noto-core"}
GENERIC = ("sans-serif", "sans", "system-ui")
MATCH = """
  <match target="pattern">
    <test name="family" qual="any"><string>{generic}</string></test>
    <edit name="family" mode="prepend" binding="strong"><string>{family}</string></edit>
  </match>"""
FONTCONFIG = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>{matches}
</fontconfig>
"""


def environment(family: str, folder: Path) -> dict[str, str]:
    """The environment of a Chromium that sets its pages in `family`, where the machine has it."""
    matches = "".join(MATCH.format(generic=generic, family=family) for generic in GENERIC)
    path = folder / "fonts.conf"
    path.write_text(FONTCONFIG.format(matches=matches))
    return {**os.environ, "FONTCONFIG_FILE": str(path)}


def fonts_of(browser: Browser) -> set[str]:
    """The families that a page of ours is really set in."""
    page = browser.new_page()
    page.set_content('<p style="font-family: system-ui, sans-serif">Which one?</p>')
    session = page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        session.send(f"{domain}.enable")
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    node = session.send("DOM.querySelector", {"nodeId": root, "selector": "p"})["nodeId"]
    fonts = session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
    page.close()
    return {font["familyName"] for font in fonts}

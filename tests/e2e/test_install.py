"""The chat can be installed like an app, from the page where a new conversation begins."""

import struct
from urllib.parse import urljoin

from tests.e2e.chat_page import ChatPage, Window
from tests.support.server import Server


def size(png: bytes) -> str:
    assert png.startswith(b"\x89PNG\r\n")
    return "{}x{}".format(*struct.unpack(">II", png[16:24]))


def test_the_browser_finds_nothing_in_the_way(window: Window, server: Server) -> None:
    page = ChatPage.open(window, server).page
    devtools = page.context.new_cdp_session(page)
    manifest = devtools.send("Page.getAppManifest")
    assert manifest["url"].startswith(f"{server.url}/static/chat.")
    assert manifest["errors"] == []
    wrong = devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]
    # A window without a profile can install nothing, whatever the page.
    assert [error for error in wrong if error["errorId"] != "in-incognito"] == []


def test_each_icon_is_there_in_its_size(server: Server) -> None:
    alice = server.person("alice")
    page = alice.get("/").text
    address = page.split('rel="manifest" href="')[1].split('"')[0]
    response = alice.get(address)
    assert response.headers["content-type"] == "application/manifest+json"
    for icon in response.json()["icons"]:
        drawn = alice.get(urljoin(address, icon["src"]))
        assert drawn.status_code == 200
        assert drawn.headers["content-type"] == icon["type"]
        if icon["sizes"] != "any":
            assert size(drawn.content) == icon["sizes"]
    touch = page.split('rel="apple-touch-icon" href="')[1].split('"')[0]
    assert size(alice.get(touch).content) == "180x180"

"""Debian's Firefox, driven over WebDriver BiDi: https://www.w3.org/TR/webdriver-bidi/."""

import base64
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from websockets.sync.client import ClientConnection, connect

from tests.engines.browser import Browser, BrowserError
from tests.engines.process import running
from tests.support.waiting import until

COMMAND = ("firefox-esr", "--headless", "--no-remote", "--remote-debugging-port=0")
NOWHERE = 9  # a port on which nothing listens
# Firefox's remote agent adds its own to these: no updates, no telemetry, no safe browsing.
PREFERENCES: dict[str, object] = {
    # Firefox's own requests to other hosts go to a proxy that does not exist; 127.0.0.1 needs none.
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": NOWHERE,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": NOWHERE,
    # Fewer processes, for each costs a start.
    "browser.newtab.preload": False,
    "browser.startup.page": 0,
    "dom.ipc.processCount": 1,
    "dom.ipc.processPrelaunch.enabled": False,
    "fission.autostart": False,
    "media.rdd-process.enabled": False,
}
LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
TIMEOUT_SECONDS = 60.0  # seconds; these machines are busy


class Firefox:
    """The browser. Each window is a container of its own, in Firefox's words."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._sent = 0
        self.logged: list[dict[str, Any]] = []
        self.command("session.new", capabilities={})
        self.command("session.subscribe", events=["log.entryAdded"])

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._sent += 1
        self._socket.send(json.dumps({"id": self._sent, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=TIMEOUT_SECONDS))
            if message.get("method") == "log.entryAdded":
                self.logged.append(message["params"])
            if message.get("id") == self._sent:
                break
        if message["type"] == "error":
            raise BrowserError(f"{method}: {message['error']}: {message['message']}")
        return message["result"]

    def window(self) -> "FirefoxWindow":
        return FirefoxWindow(self)


class FirefoxWindow(Browser):
    def __init__(self, firefox: Firefox) -> None:
        self._firefox = firefox
        self._user = firefox.command("browser.createUserContext")["userContext"]
        made = firefox.command("browsingContext.create", type="window", userContext=self._user)
        self._context = made["context"]

    def _command(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._firefox.command(method, context=self._context, **parameters)

    def goto(self, url: str) -> None:
        self._command("browsingContext.navigate", url=url, wait="complete")

    def reload(self) -> None:
        self._command("browsingContext.reload", wait="complete")

    def call(self, function: str, *args: Any) -> Any:
        as_text = f"(args) => JSON.stringify(({function})(...JSON.parse(args)) ?? null)"
        result = self._firefox.command(
            "script.callFunction",
            functionDeclaration=as_text,
            arguments=[{"type": "string", "value": json.dumps(args)}],
            target={"context": self._context},
            awaitPromise=False,
        )
        if result["type"] == "exception":
            raise BrowserError(result["exceptionDetails"]["text"])
        return json.loads(result["result"]["value"])

    def perform(self, sources: list[dict[str, Any]]) -> None:
        self._command("input.performActions", actions=sources)

    def choose_files(self, selector: str, *paths: Path) -> None:
        found = self._command("browsingContext.locateNodes", locator={"type": "css", "value": selector})
        element = {"sharedId": found["nodes"][0]["sharedId"]}
        self._command("input.setFiles", element=element, files=[str(path) for path in paths])

    def resize(self, width: int, height: int) -> None:
        self._command("browsingContext.setViewport", viewport={"width": width, "height": height})

    def screenshot(self) -> bytes:
        return base64.b64decode(self._command("browsingContext.captureScreenshot")["data"])

    def set_cookie(self, url: str, name: str, value: str) -> None:
        cookie = {"name": name, "value": {"type": "string", "value": value}, "domain": urlsplit(url).hostname}
        where = {"type": "storageKey", "userContext": self._user}
        self._firefox.command("storage.setCookie", cookie=cookie, partition=where)

    def errors(self) -> list[str]:
        mine = [entry for entry in self._firefox.logged if entry["source"].get("context") == self._context]
        return [entry["text"] for entry in mine if entry["level"] == "error"]

    def close(self) -> None:
        self._firefox.command("browser.removeUserContext", userContext=self._user)


@contextmanager
def started(folder: Path, *, javascript: bool = True) -> Iterator[Firefox]:
    preferences = {**PREFERENCES, "javascript.enabled": javascript}.items()
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in preferences]
    (folder / "user.js").write_text("\n".join(lines))
    log = folder / "firefox.log"
    env = {"HOME": str(folder), "MOZ_CRASHREPORTER_DISABLE": "1"}
    with running("firefox-esr", [*COMMAND, "--profile", str(folder)], log, env):
        address = until(lambda: LISTENS.search(log.read_text("utf-8", "replace")))[1]
        with connect(f"{address}/session", max_size=None, proxy=None) as socket:
            yield Firefox(socket)

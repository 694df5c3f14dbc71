"""Debian's WebKitGTK, driven over WebDriver: https://www.w3.org/TR/webdriver2/."""

import base64
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.engines.browser import Browser, BrowserError
from tests.engines.process import running
from tests.support.server import free_port, give_back
from tests.support.waiting import until

# A toolbar of its usual size would keep the window from being as narrow as a phone.
FLAT = "* { min-width: 0; margin: 0; padding: 0; border: 0; font-size: 1px; -gtk-icon-transform: scale(0); }"
SCREEN = "1600x1200x24"
TIMEOUT_SECONDS = 60.0  # seconds; these machines are busy
OPENING = 20.0  # seconds for a browser to start, usually 1
OPENINGS = 4
CONSOLE = ("CONSOLE JS ERROR", "CONSOLE SECURITY ERROR")


class WebKit:
    """The driver, which starts a small browser for each window."""

    def __init__(self, log: Path, env: dict[str, str], *, javascript: bool) -> None:
        self._env = env
        self._javascript = javascript
        self._driver = ExitStack()
        self._client: httpx.Client  # of the driver that runs
        self.log = log

    def start(self) -> None:
        """Start a driver in place of the one before."""
        self.stop()
        port = free_port()
        self._driver.callback(give_back, port)
        command = ["WebKitWebDriver", f"--port={port}"]
        self._driver.enter_context(running("webkit2gtk-driver", command, self.log, self._env))
        self._client = httpx.Client(
            base_url=f"http://127.0.0.1:{port}", timeout=TIMEOUT_SECONDS, trust_env=False
        )
        self._driver.enter_context(self._client)
        until(lambda: _is_ready(self._client))

    def stop(self) -> None:
        self._driver.close()

    def command(self, method: str, path: str, *, timeout: float = TIMEOUT_SECONDS, **body: Any) -> Any:
        """Raises: `BrowserError` if it is refused, `httpx.TimeoutException` after `timeout` seconds."""
        json = body if method == "POST" else None
        response = self._client.request(method, path, json=json, timeout=timeout).json()["value"]
        if isinstance(response, dict) and "error" in response:
            raise BrowserError(f"{path}: {response['error']}: {response.get('message')}")
        return response

    def window(self) -> "WebKitWindow":
        """Open a window. The driver now and then waits without end for a browser that it has just started."""
        for _ in range(OPENINGS - 1):
            try:
                return self._open_window()
            except httpx.TimeoutException:
                self.start()
        return self._open_window()

    def _open_window(self) -> "WebKitWindow":
        options = ["--automation", "--enable-write-console-messages-to-stdout=true"]
        if not self._javascript:
            options.append("--enable-javascript=false")
        wanted = {"alwaysMatch": {"webkitgtk:browserOptions": {"args": options}}}
        session = self.command("POST", "/session", timeout=OPENING, capabilities=wanted)
        return WebKitWindow(self, session["sessionId"])


class WebKitWindow(Browser):
    def __init__(self, webkit: WebKit, session: str) -> None:
        self._webkit = webkit
        self._session = f"/session/{session}"
        self._logged = webkit.log.stat().st_size

    def _command(self, method: str, path: str, **body: Any) -> Any:
        return self._webkit.command(method, f"{self._session}{path}", **body)

    def goto(self, url: str) -> None:
        self._command("POST", "/url", url=url)

    def reload(self) -> None:
        self._command("POST", "/refresh")

    def call(self, function: str, *args: Any) -> Any:
        return self._command("POST", "/execute/sync", script=f"return ({function})(...arguments)", args=args)

    def perform(self, sources: list[dict[str, Any]]) -> None:
        self._command("POST", "/actions", actions=sources)

    def choose_files(self, selector: str, *paths: Path) -> None:
        (element,) = self._command("POST", "/element", using="css selector", value=selector).values()
        self._command("POST", f"/element/{element}/value", text="\n".join(str(path) for path in paths))

    def resize(self, width: int, height: int) -> None:
        """The window has a toolbar, however flat."""
        self._command("POST", "/window/rect", width=width, height=height)
        above = height - self.call("() => innerHeight")
        self._command("POST", "/window/rect", width=width, height=height + above)

    def screenshot(self) -> bytes:
        return base64.b64decode(self._command("GET", "/screenshot"))

    def set_cookie(self, url: str, name: str, value: str) -> None:
        self.goto(f"{url}/healthz")  # a cookie is set for the page that is open
        self._command("POST", "/cookie", cookie={"name": name, "value": value})

    def errors(self) -> list[str]:
        with self._webkit.log.open("rb") as log:
            log.seek(self._logged)
            lines = log.read().decode("utf-8", "replace").splitlines()
        return [line for line in lines if line.startswith(CONSOLE)]

    def close(self) -> None:
        self._command("DELETE", "")


@contextmanager
def started(folder: Path, *, javascript: bool = True) -> Iterator[WebKit]:
    config = folder / "gtk-3.0"
    config.mkdir()
    (config / "gtk.css").write_text(FLAT)
    with ExitStack() as stack:
        env = {
            "DISPLAY": stack.enter_context(_display(folder)),
            "XDG_CONFIG_HOME": str(folder),
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",  # it needs rights that root in a container lacks
            "NO_AT_BRIDGE": "1",  # no session bus
            "GSETTINGS_BACKEND": "memory",
        }
        webkit = WebKit(folder / "webkit.log", env, javascript=javascript)
        stack.callback(webkit.stop)
        webkit.start()
        yield webkit


@contextmanager
def _display(folder: Path) -> Iterator[str]:
    """An X server on a display of its own, for GTK has no headless one."""
    told, tells = os.pipe()
    command = ["Xvfb", "-displayfd", str(tells), "-screen", "0", SCREEN, "-nolisten", "tcp"]
    try:
        with running("xvfb", command, folder / "xvfb.log", {}, pass_fds=[tells]):
            yield f":{os.read(told, 16).decode().strip()}"
    finally:
        os.close(told)
        os.close(tells)


def _is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/status").is_success
    except httpx.TransportError:
        return False

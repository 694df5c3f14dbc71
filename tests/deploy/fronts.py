"""The real nginx and Caddy, with the examples of deploy/, on free ports and with a throwaway certificate."""

import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import missing
from tests.support.databases import ROOT
from tests.support.server import free_port, give_back
from tests.support.waiting import until

DEPLOY = ROOT / "deploy"
HOST = "localhost"
PATH = f"{os.environ['PATH']}:/usr/sbin"  # where Debian puts nginx


def replaced(text: str, changes: dict[str, str]) -> str:
    """`text` with each key replaced by its value; each must be there."""
    for old, new in changes.items():
        assert old in text, f"{old!r} is not in the example"
        text = text.replace(old, new)
    return text


def certificate(folder: Path) -> None:
    """Write cert.pem and key.pem for HOST."""
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    command += ["-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", f"/CN={HOST}"]
    subprocess.run(
        [*command, "-addext", f"subjectAltName=DNS:{HOST}"], cwd=folder, check=True, capture_output=True
    )


class Front:
    """A proxy in front of the server at `upstream`; `start` writes its files into `folder` and starts it."""

    program = ""

    def __init__(self, folder: Path, upstream: int) -> None:
        for program in (self.program, "openssl"):
            if shutil.which(program, path=PATH) is None:
                missing(program, f"install the package {program}")
        self.folder, self.upstream = folder, upstream
        self.port, self.plain_port = free_port(), free_port()
        self.log = folder / f"{self.program}.log"
        self.url = f"https://{HOST}:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> "Front":
        certificate(self.folder)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command(), cwd=self.folder, env=self._environment(), stdout=log, stderr=log
            )
        until(self._is_ready)
        return self

    def end(self) -> None:
        if self._process:
            self._process.terminate()
            self._process.wait(60)
        give_back(self.port)
        give_back(self.plain_port)

    def context(self) -> ssl.SSLContext:
        """For a client, who trusts its certificate."""
        return ssl.create_default_context(cafile=str(self.folder / "cert.pem"))

    def negotiated(self, *protocols: str) -> str | None:
        """The protocol that it chooses by ALPN."""
        context = self.context()
        context.set_alpn_protocols(list(protocols))
        with self.connected(context) as connection:
            return connection.selected_alpn_protocol()

    @contextmanager
    def connected(self, context: ssl.SSLContext) -> Iterator[ssl.SSLSocket]:
        with (
            socket.create_connection((HOST, self.port), timeout=60) as plain,
            context.wrap_socket(plain, server_hostname=HOST) as connection,
        ):
            yield connection

    def logged(self) -> str:
        """All that it has written to its logs."""
        return "\n".join(path.read_text("utf-8", "replace") for path in self.folder.glob("*.log"))

    def _is_ready(self) -> bool:
        assert self._process
        assert self._process.poll() is None, self.log.read_text("utf-8")
        try:
            return self.negotiated("h2") == "h2"
        except OSError:
            return False

    def _command(self) -> list[str]:
        raise NotImplementedError

    def _environment(self) -> dict[str, str]:
        return {"HOME": str(self.folder), "PATH": PATH}


class Nginx(Front):
    """As Debian's nginx.conf includes it, whose `gzip on` and old TLS versions the example must override."""

    program = "nginx"

    def _command(self) -> list[str]:
        changes = {
            "127.0.0.1:8000": f"127.0.0.1:{self.upstream}",
            "return 301 https://chat.example.org$": f"return 301 {self.url}$",
            "server_name chat.example.org": f"server_name {HOST}",
            "listen 80;": f"listen 127.0.0.1:{self.plain_port};",
            "listen [::]:80;": "",
            "listen 443 ssl": f"listen 127.0.0.1:{self.port} ssl",
            "listen [::]:443 ssl http2;": "",
            "/etc/letsencrypt/live/chat.example.org/fullchain.pem": f"{self.folder}/cert.pem",
            "/etc/letsencrypt/live/chat.example.org/privkey.pem": f"{self.folder}/key.pem",
            "/var/log/nginx/chat.log": f"{self.folder}/access.log",
        }
        example = replaced((DEPLOY / "nginx.conf").read_text("utf-8"), changes)
        (self.folder / "chat.conf").write_text(example, "utf-8")
        paths = "".join(
            f"    {kind}_temp_path {self.folder}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (self.folder / "nginx.conf").write_text(
            f"daemon off;\nmaster_process off;\npid {self.folder}/nginx.pid;\n"
            f"error_log {self.folder}/error.log;\nevents {{ worker_connections 768; }}\n"
            "http {\n    ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3;\n    gzip on;\n"
            f"    access_log {self.folder}/other.log;\n{paths}    include {self.folder}/chat.conf;\n}}\n",
            "utf-8",
        )
        return [
            shutil.which("nginx", path=PATH) or "",
            "-p",
            str(self.folder),
            "-c",
            str(self.folder / "nginx.conf"),
        ]


class Caddy(Front):
    program = "caddy"

    def _command(self) -> list[str]:
        """Caddy's own authority would be installed on this machine, and its interface for changes listen."""
        options = f"{{\n\tadmin off\n\tskip_install_trust\n\thttp_port {self.plain_port}\n"
        options += f"\thttps_port {self.port}\n\tservers {{"
        site = "{$CHAT_HOST:chat.example.org} {"
        changes = {
            "{\n\tservers {": options,
            site: f"{site}\n\ttls {self.folder}/cert.pem {self.folder}/key.pem",
        }
        example = replaced((DEPLOY / "Caddyfile").read_text("utf-8"), changes)
        (self.folder / "Caddyfile").write_text(example, "utf-8")
        return ["caddy", "run", "--config", str(self.folder / "Caddyfile"), "--adapter", "caddyfile"]

    def _environment(self) -> dict[str, str]:
        ours = {"CHAT_HOST": HOST, "CHAT_UPSTREAM": f"127.0.0.1:{self.upstream}"}
        return {**super()._environment(), **ours}


FRONTS = {"nginx": Nginx, "caddy": Caddy}

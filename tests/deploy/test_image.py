"""The image: what its Dockerfile installs and copies, and a server that runs from it and cannot change it."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx

from tests.conftest import missing
from tests.deploy.dockerfile import instructions, stages
from tests.support.databases import ROOT
from tests.support.server import Server
from tests.support.waiting import until

START_PATIENCE = 180.0  # seconds: the first start also compresses all static files
FINAL = ("chat", "chat-local", "chat-s3")
TOOLS = r"\b(gcc|g\+\+|make|build-essential|python3-venv|python3-pip|python3-dev|git|curl|wget|\S+-dev)\b"
# Only the data and /tmp can be written: what is mounted read-only here is so in a container.
READ_ONLY = """
mount --bind "$DATA_DIR" "$DATA_DIR"
cd "$PWD"
mount -t tmpfs tmpfs "$TMPDIR"
mount --bind . .
cd "$PWD"
mount -o remount,bind,ro .
mount -o remount,bind,ro /
! touch written 2>/dev/null
exec "$@"
"""


def test_the_last_stages_have_the_base_and_no_build_tools() -> None:
    for name in FINAL:
        runs = [rest for word, rest in stages()[name] if word == "RUN"]
        assert runs
        assert not re.search(TOOLS, " ".join(runs))
        assert "pip" not in " ".join(runs)
    assert [rest for word, rest in instructions() if word == "ARG"] == [
        "BASE=docker.io/library/debian:trixie-slim",
        "OTEL=0",
        "MCP=0",
    ]
    bases = {rest.split(" ")[0] for word, rest in instructions() if word == "FROM"}
    assert bases - stages().keys() == {"${BASE}"}


def test_the_server_is_an_unprivileged_user_with_a_number() -> None:
    """Kubernetes refuses a name, since it cannot tell that it is not root's."""
    for name in FINAL:
        users = [rest for word, rest in stages()[name] if word == "USER"]
        assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", users[-1])


def test_packages_are_checked_against_the_lock_files() -> None:
    installs = [
        rest for word, rest in instructions() if word == "RUN" and "pip" in rest and "install -" in rest
    ]
    pips = [rest for rest in installs if "/pip --python" in rest]
    assert len(pips) == 5
    for line in pips:
        assert "--require-hashes" in line
        assert "--only-binary :all:" in line
        assert re.search(r"-r requirements(-local|-otel|-s3|-mcp)?-lock\.txt", line)


def test_only_needed_files_are_copied_and_shown_to_docker() -> None:
    copied = {rest.split(" ")[0] for word, rest in instructions() if word == "COPY" and "--from" not in rest}
    ignore = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    assert {line[1:] for line in ignore if line.startswith("!")} == copied
    assert "*" in ignore
    assert "pyproject.toml" in copied  # its version is a label of chat_build_info
    assert all((ROOT / path).exists() for path in copied)


def test_the_server_runs_from_the_copy_and_writes_its_data_only(unstarted: Server, tmp_path: Path) -> None:
    if subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "true"]).returncode:
        missing("a namespace of mounts", "allow user namespaces")
    code = tmp_path / "opt"
    code.mkdir()
    for word, rest in stages()["code"]:
        if word == "COPY" and "lock.txt" not in rest:
            source, target = rest.split(" ")
            copy: Callable[..., object] = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
            copy(ROOT / source, code / target)
    server = unstarted
    (server.folder / "static").unlink()  # collected by the first start
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    server.env |= {"TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": ""}
    (start,) = [rest for word, rest in stages()["server"] if word == "CMD"]
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", READ_ONLY, "sh"]
    with server.log.open("ab") as log:
        process = subprocess.Popen(
            [*command, sys.executable, "manage.py", *json.loads(start)],
            cwd=code, env=server.env, stdout=log, stderr=log,
        )  # fmt: skip
    try:
        until(
            lambda: "Chat is running" in server.log.read_text("utf-8") or process.poll() is not None,
            START_PATIENCE,
        )
        assert process.poll() is None, server.log.read_text("utf-8")
        (check,) = [rest for word, rest in stages()["server"] if word == "HEALTHCHECK"]
        _, *command = json.loads(check.split("CMD ", 1)[1])
        healthy = subprocess.run([sys.executable, *command], env={"PORT": str(server.port)})
        assert healthy.returncode == 0
        person = server.person("alice")
        long = "x" * 150_000  # a body that Twisted keeps in a temporary file
        stream = person.asked(f"fake: words tokens=3\n{long}")
        assert stream.finished
        page = person.get("/", headers={"Accept-Language": "de"}).text
        assert '<html lang="de"' in page
        for sheet in re.findall(r'href="(/static/[^"]+\.css)"', page):
            assert httpx.get(f"{server.url}{sheet}", trust_env=False).status_code == 200
        process.terminate()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
    unhealthy = subprocess.run(
        [sys.executable, *command], env={"PORT": str(server.port)}, capture_output=True
    )
    assert unhealthy.returncode == 1

"""A server that cannot listen says what to do, and ends."""

import subprocess
import sys

import pytest

from tests.support.databases import ROOT
from tests.support.server import Server


@pytest.mark.parametrize("arguments", [[], ["--workers", "2"]])
def test_a_port_that_is_in_use_is_told_in_a_sentence(server: Server, arguments: list[str]) -> None:
    command = [sys.executable, "manage.py", "serve", *arguments]
    ended = subprocess.run(command, cwd=ROOT, env=server.env, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    assert f"Cannot listen on 127.0.0.1, port {server.port}: Address already in use." in ended.stderr
    assert "End it, or set PORT to another one." in ended.stderr
    assert "Traceback" not in ended.stderr

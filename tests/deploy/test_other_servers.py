"""The application under other ASGI servers, without the patches of `chatsite/server`."""

import importlib.util
import signal
import subprocess
import sys

import pytest

from tests.support.databases import ROOT
from tests.support.server import Server
from tests.support.waiting import until

LIFESPAN = {"daphne": False, "uvicorn": True}  # which of them speak the protocol
ADDRESS = {"daphne": ("-b", "127.0.0.1", "-p"), "uvicorn": ("--host", "127.0.0.1", "--port")}


@pytest.mark.parametrize("program", LIFESPAN)
def test_a_reply_streams_and_the_server_ends(program: str, unstarted: Server) -> None:
    if importlib.util.find_spec(program) is None:
        pytest.skip(f"{program} is not installed")
    command = [sys.executable, "-m", program, *ADDRESS[program], str(unstarted.port)]
    with unstarted.log.open("ab") as log:
        started = subprocess.Popen(
            [*command, "chatsite.asgi:application"], cwd=ROOT, env=unstarted.env, stdout=log, stderr=log
        )
    try:
        until(lambda: unstarted._is_ready() or None)
        alice = unstarted.person("alice")
        with alice.ask("fake: words tokens=20 delay=0.02") as stream:
            followed = alice.client.get(f"/runs/{stream.run}/stream/")
            assert stream.to_end().done["status"] == "complete"
        assert followed.text.endswith("data: [DONE]\n\n")
        assert alice.get(f"/c/{stream.conversation}/").status_code == 200
    finally:
        started.send_signal(signal.SIGTERM)
        code = started.wait(60)
    if LIFESPAN[program]:  # it has shut down in order
        assert code in (0, -signal.SIGTERM)
        assert unstarted.database.value("SELECT COUNT(*) FROM chat_worker") == 0

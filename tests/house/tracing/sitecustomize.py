"""Record the files of ours in which a function runs, in each thread of this process, from signal to signal.

Python imports this module at its start from PYTHONPATH. SIGUSR1 begins, SIGUSR2 ends and writes `WALK_FILE`.
"""

import os
import re
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = str(Path(__file__).parents[3])
OURS = (f"{ROOT}/chat/", f"{ROOT}/chatsite/")
BEAT = re.compile(r"RemoteRuns\.(poll$|_changed\b)")  # a few times a second: a slow send cannot be without it
found: set[str] = set()
recording = False


def note(frame: FrameType, event: str, _argument: Any) -> None:
    if recording and event == "call" and not BEAT.match(frame.f_code.co_qualname):
        found.add(frame.f_code.co_filename)


def begin(*_: Any) -> None:
    global recording
    found.clear()
    recording = True


def end(*_: Any) -> None:
    global recording
    recording = False
    names = sorted(name.removeprefix(f"{ROOT}/") for name in found if name.startswith(OURS))
    part = Path(os.environ["WALK_FILE"] + ".part")
    part.write_text("\n".join(names))
    part.rename(os.environ["WALK_FILE"])


signal.signal(signal.SIGUSR1, begin)
signal.signal(signal.SIGUSR2, end)
threading.setprofile(note)
sys.setprofile(note)

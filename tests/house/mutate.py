"""Break the most important lines one by one: `make mutate` fails if their tests do not notice it.

Each is found by its text, which stands exactly once in `chat/`; tests/house/test_mutate.py holds that.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from tests.house.sizes import ROOT, files

# The tests that must fail, with options of pytest: {the text of a line: what it becomes}.
MUTANTS: dict[str, dict[str, str]] = {
    "tests/wire/test_sse.py": {
        "if self._size > self._max_line:": "if False:",
        'if chunk.endswith(b"\\r"):': "if False:",
        "return [event._replace(unfinished=True) for event in events]": "return events",
        "text = text.replace(splitter, escaped)": "pass",
        'if "\\n" in data or "\\r" in data:': "if False:",
    },
    "tests/wire/test_strict_json.py": {
        "if not math.isfinite(number):": "if False:",
        "for _depth in range(max_depth + 1):": "for _depth in range(10**6):",
        "if halves and any(LONE_SURROGATE": "if False and any(LONE_SURROGATE",
    },
    "tests/wire/test_text.py": {
        'piece = piece.replace("\\0", "")': "pass",
        "if kept := _overlap(thinking, self._close):": "if kept := 0:",
        'self._held = "" if self.found else text[certain:]': "pass",
    },
    "tests/wire/test_frames.py": {
        "if self.has_said and self._has_skipped_last and not self.reason:": "if False:",
        "            raise_if_error(frame)": "            pass",
        "self._is_unreliable = True": "self._is_unreliable = False",
    },
    "tests/wire/test_delta_decoder.py": {"self.ignored = error": "self.failure = error"},
    "tests/wire/test_tool_calls.py": {"own_id = id_ if id_ and id_ not in self._ids": "own_id = id_ if id_"},
    "tests/wire/test_usage.py": {"if usage.total_tokens >= self._total.total_tokens:": "if True:"},
    "tests/ownership/test_protocol.py": {
        "if max(answered - sent, sent - self._answered) > STEADY_SECONDS:": "if False:",
        "return now - self._sent < SILENT_SECONDS": "return True",
        "if self._sent - since >= LAUNCH_SECONDS": "",
        "if self._batch is None:\n": "if True:\n",
        "if ours.begins(stored):": "if False:",
        "Merge.EXTEND if is_last and stored.begins(ours)": "Merge.EXTEND if stored.begins(ours)",
    },
    "tests/ownership": {
        "filter(pk=worker, epoch=observed.epoch, heartbeats=observed.number)": "filter(pk=worker)",
        "if dead != worker and not is_locked(folder, dead)]": "if dead != worker]",
        "raise  # try again at the next heartbeat": "pass",
        "if at > len(text):": "if False:",
        "columns, id=self.pk, worker_id=worker, status=LIVE)": "columns, id=self.pk)",
    },
    "tests/engine/test_writer.py": {"if active_run.id not in result.lost:": "if True:"},
    "tests/engine/test_resume.py": {
        "position == state.end._replace(steps=state.revision, done=True):": "False:",
        "start.text > len(state.text)": "False",
        "if run.fingerprint != command.fingerprint:": "if False:",
    },
    "tests/views/test_rights.py": {
        "Conversation.objects.owned_by(user).filter(pk=conversation)": (
            "Conversation.objects.filter(pk=conversation)"
        ),
        "Message.objects.owned_by(get_user(request))": "Message.objects",
        "Run.objects.owned_by(get_user(request))": "Run.objects",
    },
    "tests/views/test_refusals.py": {
        "if request.content_type not in JSON_CONTENT_TYPES:": "if False:",
        "if unknown := sorted(set(fields) - set(known)):": "if unknown := []:",
        "if INVALID_CHARACTER.search(value):": "if False:",
    },
    "tests/files/test_deletion.py": {
        "if used + more > settings.ATTACHMENT_QUOTA_MB * MEGABYTE:": "if False:",
        "if row is None or not unused().filter(pk=sha256).exists():": "if row is None:",
    },
    # SQLite has one writer at a time.
    "tests/files/test_deletion.py --database=postgres": {
        "user.lock()  # of two uploads at the same time": "pass  # of two uploads at the same time"
    },
    "tests/files/test_confinement.py": {"has_landlock = restrict_files(libc, code)": "has_landlock = True"},
    "tests/views/test_attachment_uploads.py": {"if received.size > self._max_bytes:": "if False:"},
    "tests/views/test_access.py": {
        "if super().is_locked(request, credentials):": "if False:",
        "if _failed_logins(ip_address=request.axes_ip_address) >= ADDRESS_LIMIT:": "if False:",
        "User().set_password(password)  # hash anyway": "pass  # hash anyway",
        "return entries[-hops] if 0 < hops <= len(entries)": "return entries[0] if entries",
    },
    "tests/test_sessions.py": {
        'return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()': "return key"
    },
    "tests/rendering/test_attacks.py": {
        "url_relative=lambda url: url if _FOOTNOTE.fullmatch(url) else None": "url_relative=lambda url: url",
        'return (_MATHS_CLEANER if "<math" in html else _CLEANER).clean(html)': "return html",
        'url_schemes={"http", "https", "mailto"}': 'url_schemes={"http", "https", "mailto", "javascript"}',
    },
}


@cache
def sources() -> dict[str, str]:
    return {name: (ROOT / name).read_text("utf-8") for name in files((".py",), "chat")}


def places(text: str) -> list[str]:
    """Return the file of `chat/` that has this text, once for each time."""
    return [name for name, source in sources().items() for _ in range(source.count(text))]


def is_caught(tests: str, text: str, broken: str) -> bool:
    """Return True if the tests fail where `text` is `broken`, in a copy of the project."""
    (place,) = places(text)
    with tempfile.TemporaryDirectory() as tree:
        for name in files(("",)):
            copy = Path(tree, name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy)
        Path(tree, place).write_text(sources()[place].replace(text, broken), "utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests.split()]
        ended = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    failed = [line for line in ended.stdout.split("\n") if line.startswith(("FAILED ", "ERROR tests"))]
    found = ended.returncode == pytest.ExitCode.TESTS_FAILED
    print("caught:" if found else "NOT CAUGHT:", text.strip(), *failed, sep="\n    ", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.house.mutate", description=__doc__)
    parser.add_argument("words", nargs="*", default=[""], help="break only lines with one, or of such tests")
    words = parser.parse_args().words
    rows = [(tests, *each) for tests, lines in MUTANTS.items() for each in lines.items()]
    rows = [row for row in rows if any(word in row[0] + row[1] for word in words)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda row: is_caught(*row), rows))
    print(f"{sum(found)} of {len(found)} are caught")
    sys.exit(not all(found))


if __name__ == "__main__":
    main()

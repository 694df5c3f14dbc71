"""Imports through the confined child itself: what it tells, and how it ends."""

import json
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from chat.models import Conversation, ImportJob, Message, User
from chat.transfer import jobs, reader
from tests.support.processes import shown
from tests.support.waiting import until
from tests.transfer import samples
from tests.transfer.exported import archived
from tests.transfer.importing import checked, imported, never, start, uploaded, work

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("folder")]
State = ImportJob.State
# Takes the child some seconds, and holds more than it reads of one conversation.
LONG = b'[{"mapping":[' + b"[]," * 4_000_000 + b"[]]}]"


@pytest.fixture
def read_here() -> None:
    """Files are not read in this process, as in the other modules."""


def children() -> list[int]:
    """The processes that read an import for this one."""
    found = [shown(path).split() for path in Path("/proc/self/task").glob("*/children")]
    every = [int(child) for each in found for child in each]
    return [child for child in every if reader.IMPORT_READER in shown(Path(f"/proc/{child}/cmdline"))]


def in_a_thread(stop: Callable[[], bool] = never) -> "Future[bool]":
    done: Future[bool] = Future()

    def run() -> None:
        try:
            done.set_result(work(stop))
        except BaseException as error:
            done.set_exception(error)
        finally:
            connections.close_all()

    threading.Thread(target=run).start()
    return done


def test_all_formats_are_imported(ann: User) -> None:
    data = [samples.chatgpt(), samples.claude(), samples.open_webui(), samples.librechat(), {}, {"x": 1}]
    job = imported(ann, data)
    assert (job.state, job.stored, job.processed, job.attempts) == (State.DONE, 4, 6, 1)
    assert job.preview["skipped"] == {"invalid": 2}
    ben = User.objects.create_user("ben")
    assert imported(ben, archived(ann)).stored == 4
    texts = [
        list(Message.objects.filter(conversation__user=user).order_by("text").values_list("text", flat=True))
        for user in (ann, ben)
    ]
    assert texts[0] == texts[1]


def test_a_stop_ends_the_child(ann: User) -> None:
    job = uploaded(ann, LONG)
    done = in_a_thread()
    until(children)
    assert jobs.finish(ImportJob.objects.get(), State.STOPPED)
    assert done.result(5)
    assert not children()
    job.refresh_from_db()
    assert (job.state, job.beat) == (State.STOPPED, None)


def test_a_server_that_stops_hands_back(ann: User) -> None:
    job = uploaded(ann, LONG)
    stopping = threading.Event()
    done = in_a_thread(stopping.is_set)
    until(children)
    stopping.set()
    assert done.result(5)
    assert not children()
    job.refresh_from_db()
    assert (job.state, job.beat, job.attempts) == (State.CHECKING, None, 0)


def test_a_file_whose_child_dies_twice_is_refused(ann: User, caplog: pytest.LogCaptureFixture) -> None:
    job = uploaded(ann, LONG)
    for _ in range(2):
        done = in_a_thread()
        until(children)
        os.kill(children()[0], signal.SIGKILL)
        assert done.result(5)
        job.refresh_from_db()
        assert (job.state, job.beat) == (State.CHECKING, None)
    assert not work()
    job.refresh_from_db()
    assert (job.state, job.problem) == (State.REFUSED, "stuck")
    assert "the reader of an imported file failed" in caplog.text


def test_a_file_that_takes_too_long_is_refused(ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "CPU_SECONDS", 1)
    monkeypatch.setattr(reader, "CPU_SECONDS_PER_MEBIBYTE", 0)
    job = checked(ann, b"[" + b",".join([b'{"a":[' + b"0," * 3_000_000 + b"0]}"] * 4) + b"]")
    assert (job.state, job.problem) == (State.REFUSED, "slow")


@pytest.mark.parametrize(
    "large",
    [
        b'{"mapping":{"a":{"message":{"content":{"parts":["' + b"x" * 70_000_000 + b'"]}}}}}',
        b'{"mapping":[' + b"[]," * 1_400_000 + b"[]]}",
        b'{"mapping":[' + b'"",' * 2_100_000 + b'""]}',
        b'{"mapping":[' + b"0," * 4_100_000 + b"0]}",
    ],
    ids=["bytes", "lists", "texts", "numbers"],
)
def test_an_object_that_is_too_large_is_left_out(ann: User, large: bytes) -> None:
    job = imported(ann, b"[" + large + b", " + json.dumps(samples.claude()).encode() + b"]")
    assert (job.state, job.stored, job.preview["skipped"]) == (State.DONE, 1, {"large": 1})


def test_memory_that_runs_out_leaves_out_one_object(ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "ADDRESS_SPACE_BYTES", 200_000_000)
    values: Any = {"mapping": {str(number): {"message": {"a": []}} for number in range(300_000)}}
    job = imported(ann, [values, samples.claude()])
    assert (job.state, job.stored, job.preview["skipped"]) == (State.DONE, 1, {"large": 1})
    assert Conversation.objects.get().title == "A poem"


def test_a_process_that_died_is_followed_once(ann: User) -> None:
    job = uploaded(ann, [samples.claude()])
    for _ in range(jobs.MAX_ATTEMPTS):
        assert jobs.claim()
        ImportJob.objects.update(beat=None)
    assert jobs.claim() is None
    job.refresh_from_db()
    assert (job.state, job.problem) == (State.REFUSED, "stuck")


def test_progress_and_a_new_step_count_as_a_new_beginning(ann: User) -> None:
    job = uploaded(ann, [samples.claude(), samples.open_webui()])
    assert jobs.claim()
    ImportJob.objects.update(beat=None)
    work()
    job.refresh_from_db()
    assert (job.state, job.attempts) == (State.READY, 0)
    start(job)
    assert jobs.claim()
    ImportJob.objects.update(beat=None)
    work(Conversation.objects.filter(temporary=False).exists)
    job.refresh_from_db()
    assert (job.state, job.stored, job.attempts) == (State.IMPORTING, 1, 0)

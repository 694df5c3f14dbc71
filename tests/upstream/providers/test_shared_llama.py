"""The workers of a site share one server of the local model, which ends with the site."""

import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from chat.upstream.providers import shared_llama
from chat.upstream.providers.llama_cpp import LocalModel
from tests.support.waiting import until

pytestmark = pytest.mark.local


class Site:
    """The lock of the site's folder, as the supervisor holds it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = os.open(folder / shared_llama.SITE_LOCK, os.O_RDWR | os.O_CREAT)
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    def end(self) -> None:
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path)
    yield made
    made.end()


@pytest.fixture
def worker(site: Site, bundled: Path) -> Iterator[Callable[[], LocalModel]]:
    made: list[LocalModel] = []

    def one() -> LocalModel:
        made.append(LocalModel(bundled, site.folder))
        return made[-1]

    yield one
    site.end()
    for model in made:
        model.close()
        if model._process:
            model._process.wait(60)


async def status(model: LocalModel) -> int:
    headers = {"Authorization": f"Bearer {model.key}"}
    async with httpx.AsyncClient(base_url=model.base_url, trust_env=False, timeout=60) as http:
        body = {"messages": [{"role": "user", "content": "Hello!"}], "max_tokens": 2}
        return (await http.post("/v1/chat/completions", json=body, headers=headers)).status_code


async def test_it_is_started_once_and_outlives_its_starter(
    site: Site, worker: Callable[[], LocalModel]
) -> None:
    first, second, third = worker(), worker(), worker()
    for model in (first, second):
        await model.start()
    assert (second.base_url, second.key, second._process) == (first.base_url, first.key, None)
    for file in site.folder.glob("*.json"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    first.close()
    await third.start()
    assert third.base_url == first.base_url
    assert await status(second) == await status(third) == 200
    process = first._process
    assert process is not None
    assert process.poll() is None
    site.end()
    assert process.wait(60) == 0


async def test_the_next_user_starts_it_again(worker: Callable[[], LocalModel]) -> None:
    first, second = worker(), worker()
    await first.start()
    assert first._process is not None
    first._process.kill()
    first._process.wait()
    await second.start()
    assert second._process is not None
    assert await status(second) == 200
    await first.start()
    assert first.base_url == second.base_url
    assert await status(first) == 200


def test_folders_of_ended_sites_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parent = tmp_path / "local-model"
    monkeypatch.setenv(shared_llama.MODEL_FOLDER_VARIABLE, "")
    (parent / "ended").mkdir(parents=True)
    (parent / "ended" / shared_llama.SITE_LOCK).touch()
    (parent / "running").mkdir()
    running = Site(parent / "running")
    shared_llama.prepare(parent)
    own = shared_llama.prepared()
    running.end()
    assert own
    assert {each.name for each in parent.iterdir()} == {"lock", "running", own.name}
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    shared_llama.forget()
    assert shared_llama.prepared() is None
    until(lambda: shared_llama._is_held(own / shared_llama.SITE_LOCK))

"""The real local model answers through the same client; a file that cannot is refused with a sentence."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import httpx
import pytest

from chat.upstream import parameters, token_budget
from chat.upstream.chat_request import ChatRequest
from chat.upstream.client import Client
from chat.upstream.completion_stream import CompletionStream
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.providers import llama_cpp
from chat.upstream.providers.llama_cpp import LocalModel
from tests.support.processes import has_ended, shown
from tests.support.waiting import until
from tests.upstream.asking import ask
from tests.upstream.providers.gguf_files import STRING, UINT32, gguf

EMPTY_MODEL = gguf([("general.architecture", STRING, "llama"), ("llama.context_length", UINT32, 2048)])
ONLY_READS = gguf(
    [("general.architecture", STRING, "nomic-bert"), ("nomic-bert.context_length", UINT32, 512)]
)
# A process of its own that answers a question, has the model write on, and ends in the middle of that.
ENDS_WHILE_WRITING = """
import asyncio, sys
from chat.upstream.providers import llama_cpp as local
from chat.upstream.chat_request import ChatRequest
from chat.upstream.client import Client

async def main():
    model = local.LocalModel(local.find(""))
    client = Client(None, model)
    messages = [{"role": "user", "content": "Count to one thousand."}]
    async with client.stream(ChatRequest(messages, model.model, 2000)) as reply:
        async for delta in reply:
            print("writing", flush=True)
            if sys.argv[1] == "wait":
                await asyncio.sleep(60)
            break
        if sys.argv[1] == "leave":
            return
    model.close()
    await client.aclose()

asyncio.run(main())
"""


@pytest.fixture
def model(bundled: Path) -> Iterator[LocalModel]:
    made = LocalModel(bundled)
    yield made
    made.close()


@pytest.fixture
async def client(model: LocalModel) -> AsyncIterator[Client]:
    made = Client(None, model)
    yield made
    await made.aclose()


@pytest.fixture
def cut(bundled: Path, tmp_path: Path) -> Path:
    file = tmp_path / "cut.gguf"
    file.write_bytes(bundled.read_bytes()[:20_000_000])
    return file


@pytest.mark.local
async def test_it_answers_through_the_client(
    client: Client, model: LocalModel, capfd: pytest.CaptureFixture[str]
) -> None:
    reply = await ask(client, "What is the capital of France?", model.model, max_tokens=30)
    assert reply.error is None
    assert len(reply.text) > 10
    assert reply.stream.complete
    assert reply.stream.decoder.finish_reason in {"stop", "length"}
    assert reply.stream.usage is not None
    assert reply.stream.usage.completion_tokens > 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.local
async def test_it_writes_at_most_what_it_may(client: Client, model: LocalModel) -> None:
    reply = await ask(client, "Tell me a long story.", model.model, max_tokens=10)
    assert reply.stream.decoder.finish_reason == "length"


@pytest.mark.local
async def test_it_obeys_its_parameters(client: Client, model: LocalModel) -> None:
    """The same seed writes the same reply, another one another; each end of each range is taken."""

    async def reply_text(**chosen: parameters.Value) -> str:
        reply = await ask(client, "Name three animals.", model.model, max_tokens=20, user_parameters=chosen)
        assert reply.error is None
        return reply.text

    seven = await reply_text(temperature=2, seed=7)
    assert await reply_text(temperature=2, seed=7) == seven
    assert await reply_text(temperature=2, seed=8) != seven
    assert await reply_text(temperature=2, top_k=1) == await reply_text(temperature=0)
    for side in ("minimum", "maximum"):
        assert await reply_text(
            **{each.name: getattr(each, side) for each in parameters.supported_parameters(model.model)}
        )
    await client.aclose()


@pytest.mark.local
async def test_default_sampling_keeps_it_from_loops(model: LocalModel) -> None:
    await model.start()
    headers = {"Authorization": f"Bearer {model.key}"}
    async with httpx.AsyncClient(base_url=model.base_url, headers=headers, timeout=60) as http:
        body = {"prompt": "Hello", "n_predict": 1, "top_p": 0.5}
        used = (await http.post("/completion", json=body)).json()["generation_settings"]
    assert used["top_p"] == pytest.approx(0.5)
    assert used["temperature"] == pytest.approx(0.2)
    assert used["repeat_penalty"] == pytest.approx(1.1)
    assert used["dry_multiplier"] == pytest.approx(0.8)


@pytest.mark.local
async def test_two_are_answered_at_once(client: Client, model: LocalModel) -> None:
    both = await asyncio.gather(
        *(ask(client, f"Name {n} colours.", model.model, max_tokens=40) for n in ("three", "four"))
    )
    assert all(reply.text and reply.error is None for reply in both)


@pytest.mark.local
async def test_leaving_a_reply_frees_its_place_at_once(client: Client, model: LocalModel) -> None:
    for _ in range(llama_cpp.PARALLEL_SLOTS + 2):
        messages = [{"role": "user", "content": "Count to one thousand, slowly."}]
        async with client.stream(ChatRequest(messages, model.model, 3_000)) as stream:
            await anext(stream)
    began = time.monotonic()
    reply = await ask(client, "Say hello.", model.model, max_tokens=5)
    assert reply.error is None
    assert time.monotonic() - began < 20, "less than it needs to count to the end"


@pytest.mark.local
@pytest.mark.parametrize(
    "text",
    [
        "0123456789 " * 50,
        "Wörter, größer und ähnlich " * 20,
        "世界和平 こんにちは " * 20,
        "🧑‍🚀🎉👍🏽 " * 20,
        "ሰላም ለዓለም " * 20,
        "The quick brown fox jumps over the lazy dog. " * 20,
        "for (int i = 0; i < n; i++) { a[i] += b[i] * c[i]; }\n" * 20,
        "\t\n  \n" * 50,
    ],
    ids=["digits", "german", "cjk", "emoji", "amharic", "english", "code", "blanks"],
)
async def test_no_text_has_more_tokens_than_are_counted_for_it(model: LocalModel, text: str) -> None:
    await model.start()
    headers = {"Authorization": f"Bearer {model.key}"}
    async with httpx.AsyncClient(headers=headers, trust_env=False) as http:
        response = await http.post(f"{model.base_url}/tokenize", json={"content": text})
    assert len(response.json()["tokens"]) <= token_budget.estimate_tokens(
        [{"role": "user", "content": text}], model.model
    )


@pytest.mark.local
async def test_too_long_a_question_is_told_as_such(client: Client, model: LocalModel) -> None:
    reply = await ask(client, "0123456789 " * 3_000, model.model, max_tokens=5)
    assert reply.kind is ErrorKind.TOO_LONG


@pytest.mark.local
async def test_starting_twice_at_once_starts_one(model: LocalModel) -> None:
    await asyncio.gather(*(model.start() for _ in range(5)))
    address = model.base_url
    await model.start()
    assert model.base_url == address


@pytest.mark.local
async def test_a_start_that_is_cancelled_serves_the_next_one(model: LocalModel) -> None:
    starting = asyncio.create_task(model.start())
    await asyncio.sleep(0.05)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await model.start()
    assert model.base_url


@pytest.mark.local
async def test_closing_it_ends_what_it_writes(client: Client, model: LocalModel) -> None:
    messages = [{"role": "user", "content": "Write a long story about the sea."}]
    async with client.stream(ChatRequest(messages, model.model, 3_000)) as reply:
        await anext(reply)
        began = time.monotonic()
        await asyncio.to_thread(model.close)
        with pytest.raises(UpstreamError) as cut:
            await read_on(reply)
    assert time.monotonic() - began < 20
    assert cut.value.kind is ErrorKind.INTERRUPTED


async def read_on(reply: CompletionStream) -> None:
    async for _ in reply:
        continue


@pytest.mark.local
@pytest.mark.parametrize("how", ["close", "leave"])
def test_a_process_whose_model_is_writing_ends_in_good_order(bundled: Path, how: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", ENDS_WHILE_WRITING, how], capture_output=True, timeout=180, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, b"writing\n")


@pytest.mark.local
def test_a_killed_process_leaves_no_model_behind(bundled: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ENDS_WHILE_WRITING, "wait"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.parent.exists():
        process.kill()
        pytest.skip("this system has no /proc")
    family = {
        int(child) for task in children.parent.parent.iterdir() for child in shown(task / "children").split()
    }
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    until(lambda: all(has_ended(child) for child in family))


@pytest.mark.local
async def test_a_file_that_cannot_be_loaded_is_told_in_a_sentence(cut: Path) -> None:
    llama_cpp.check(cut)  # its header is whole
    model = LocalModel(cut)
    made = Client(None, model)
    reply = await ask(made, "hello", model.model, max_tokens=5)
    await made.aclose()
    model.close()
    assert reply.kind is ErrorKind.UNAVAILABLE
    assert reply.error is not None
    assert reply.error.message.endswith(".")


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def refused(path: Path) -> str:
    with pytest.raises(ValueError, match=r"\.$") as error:
        llama_cpp.check(path)
    assert str(path) in str(error.value)
    return str(error.value)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that the engine is installed."""
    found = llama_cpp.importlib.util.find_spec
    monkeypatch.setattr(
        llama_cpp.importlib.util, "find_spec", lambda name: object() if name == "xllamacpp" else found(name)
    )


@pytest.mark.usefixtures("engine")
class TestCheck:
    def test_a_file_that_the_system_denies(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def deny(*_: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", deny)
        assert "Permission denied" in refused(tmp_path / "secret.gguf")

    @pytest.mark.parametrize(
        ("make", "why"),
        [
            (lambda folder: folder / "missing.gguf", "No such file"),
            (lambda folder: folder, "cannot be read"),
            (lambda folder: written(folder / "file", b"") / "model.gguf", "cannot be read"),
            (lambda folder: written(folder / "m.gguf", b""), "no GGUF model: it is empty"),
            (lambda folder: written(folder / "m.gguf", b"PK\x03\x04zip"), "no GGUF model: it does not begin"),
            (lambda folder: written(folder / "m.gguf", EMPTY_MODEL[:40]), "no GGUF model: it is cut off"),
            (lambda folder: written(folder / "embed.gguf", ONLY_READS), "nomic-bert"),
            (lambda folder: os.mkfifo(pipe := folder / "pipe.gguf") or pipe, "cannot be read"),
        ],
    )
    def test_what_is_no_model_that_writes(
        self, tmp_path: Path, make: Callable[[Path], Path], why: str
    ) -> None:
        assert why in refused(make(tmp_path))

    def test_a_model_that_writes(self, tmp_path: Path) -> None:
        file = written(tmp_path / "Fine.Q4.gguf", EMPTY_MODEL)
        llama_cpp.check(file)
        model = LocalModel(file).model
        assert (model.id, model.name, model.window, model.local) == ("local/fine.q4", "Fine.Q4", 2048, True)


def test_missing_engine_names_the_install_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(llama_cpp.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"requirements-local\.txt"):
        llama_cpp.check(tmp_path / "model.gguf")
    assert llama_cpp.find("") is None


def test_a_named_file_comes_before_the_bundled_one(tmp_path: Path) -> None:
    assert llama_cpp.find(str(tmp_path / "own.gguf")) == tmp_path / "own.gguf"
    assert llama_cpp.find("~/own.gguf") == Path.home() / "own.gguf"


def proc_file(model: LocalModel, what: str) -> bytes:
    """Return the facts about the process that everyone on the machine, or its owner, can see."""
    assert model._process is not None
    file = Path(f"/proc/{model._process.pid}/{what}")
    if not file.exists():
        pytest.skip("this system does not show that of a process")
    return file.read_bytes()


async def longest_turn(bundled: Path) -> float:
    """Seconds that the loop was held up for at most while the model was loaded."""
    model = LocalModel(bundled)
    starting = asyncio.ensure_future(model.start())
    longest, last = 0.0, time.perf_counter()
    while not starting.done():
        await asyncio.sleep(0.005)
        longest, last = max(longest, time.perf_counter() - last), time.perf_counter()
    await starting
    model.close()
    return longest


@pytest.mark.local
async def test_the_loop_turns_while_the_model_loads(bundled: Path) -> None:
    """Accept one success in five: other work on the machine delays the loop as well."""
    turns: list[float] = []
    while not turns or (turns[-1] >= 0.25 and len(turns) < 5):
        turns.append(await longest_turn(bundled))
    assert min(turns) < 0.25, turns


@pytest.mark.local
async def test_only_whoever_knows_the_key_is_served(model: LocalModel) -> None:
    await model.start()
    assert model.base_url.startswith("http://127.0.0.1:")
    question = {"messages": [{"role": "user", "content": "Hello!"}], "max_tokens": 2}
    async with httpx.AsyncClient(base_url=model.base_url, trust_env=False, timeout=30) as http:
        for key, status in ((model.key, 200), ("another", 401), ("", 401)):
            told = await http.post("/v1/chat/completions", json=question, headers={"x-api-key": key})
            assert told.status_code == status
        for path in ("/", "/slots", "/props", "/metrics", "/v1/models/none"):
            assert (await http.get(path)).status_code >= 400
    assert model.key.encode() not in proc_file(model, "cmdline") + proc_file(model, "environ")


@pytest.mark.local
async def test_the_sites_secrets_do_not_reach_it(model: LocalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOUDFLARE_API_TOKEN", "very-secret")
    await model.start()
    environment = proc_file(model, "environ")
    assert b"PATH=" in environment
    assert b"very-secret" not in environment


@pytest.mark.local
async def test_it_is_not_ended_by_a_signal_that_is_meant_for_all(client: Client, model: LocalModel) -> None:
    await model.start()
    assert model._process is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(model._process.pid, number)
    assert (await ask(client, "Hello!", model.model, max_tokens=3)).error is None


@pytest.mark.local
async def test_when_it_died_the_next_question_starts_it_again(client: Client, model: LocalModel) -> None:
    await model.start()
    first = model._process
    assert first is not None
    first.kill()
    first.wait()
    assert (await ask(client, "Hello!", model.model, max_tokens=3)).error is None
    assert model._process is not first


@pytest.mark.local
async def test_when_it_dies_the_replies_that_it_wrote_are_interrupted(
    client: Client, model: LocalModel
) -> None:
    messages = [{"role": "user", "content": "Count to one thousand."}]
    async with client.stream(ChatRequest(messages, model.model, 1_300)) as reply:
        assert await anext(reply)
        assert model._process is not None
        model._process.kill()
        with pytest.raises(UpstreamError) as cut:
            await read_on(reply)
    assert cut.value.kind is ErrorKind.INTERRUPTED


@pytest.mark.local
async def test_closed_while_it_starts_it_is_gone(bundled: Path) -> None:
    made = LocalModel(bundled)
    starting = asyncio.ensure_future(made.start())
    while made._process is None:  # noqa: ASYNC110 (nothing but this tells)
        await asyncio.sleep(0.001)
    process = made._process
    made.close()
    with pytest.raises(UpstreamError):
        await starting
    assert process.poll() is not None
    made.close()


@pytest.mark.local
async def test_it_ends_with_its_input(model: LocalModel) -> None:
    await model.start()
    assert model._process is not None
    assert model._process.stdin is not None
    model._process.stdin.close()
    assert await asyncio.to_thread(model._process.wait, 60) == 0


@pytest.mark.local
async def test_it_goes_on_in_the_middle_of_a_sentence(client: Client, model: LocalModel) -> None:
    asked = {"role": "user", "content": "Count from one to ten in words, separated by commas."}
    begun = {"role": "assistant", "content": "One, two, three,"}
    text = ""
    async with client.stream(ChatRequest([asked, begun], model.model, 12)) as reply:
        async for delta in reply:
            text += delta.text
    assert text.startswith(" four, five")

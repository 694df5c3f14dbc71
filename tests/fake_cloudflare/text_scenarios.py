"""Scenarios that play any text: it arrives as base64, which no line of a question breaks."""

import base64
from collections.abc import Iterator
from itertools import chain

from tests.fake_cloudflare import frames
from tests.fake_cloudflare.frames import frame
from tests.fake_cloudflare.run import Run, scenario


def says_line(text: str, **options: object) -> str:
    """The line of a question that has the fake say `text`."""
    data = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()
    return " ".join(["fake: says", f"data={data}", *(f"{key}={value}" for key, value in options.items())])


def _text(data: str) -> str:
    return base64.b64decode(data).decode("utf-8", "surrogatepass")


def _pieces(text: str, size: int) -> Iterator[str]:
    size = size or max(1, len(text))
    return (text[at : at + size] for at in range(0, len(text), size))


@scenario
async def says(
    run: Run,
    data: str = "",
    size: int = 0,
    delay: float = 0.0,
    field: str = "content",
    reason: str = "stop",
    times: int = 1,
) -> None:
    """Any text in pieces of `size` code points (0: whole), so many times over.

    With `field` reasoning_content it is thought first.
    """
    text = _text(data) * times
    thought = (frames.chunk(piece, field) for piece in _pieces(text, size)) if field != "content" else ()
    text_frames = frames.catalog(_pieces(text, size), run.prompt_tokens, reason=reason)
    await run.send(chain(thought, text_frames), delay)


@scenario
async def cut_bytes(run: Run, data: str = "", size: int = 1, delay: float = 0.0) -> None:
    """Any text in one frame, in writes of `size` bytes."""
    raw = b"".join(frames.catalog([_text(data)], run.prompt_tokens))
    await run.send((raw[at : at + size] for at in range(0, len(raw), size)), delay)


@scenario
async def odd_events(run: Run, data: str = "", delay: float = 0.0) -> None:
    """Says `before` and `after`, and between them what no client should act on, with the text in it."""
    text = _text(data)
    odd_frames = [
        frames.chunk("before "),
        b"event: execute\n" + frame({"code": text, "response": text}),
        b"event: meta\nid: 99!\nretry: 1\n" + frame({"response": text, "html": [[0, text]]}),
        b"id: 5\nretry: 1\n\n",
        b"event: done\n" + frame({"response": text, "status": "complete"}),
        b"event: html\n" + frame({"html": [[0, text]], "response": text}),
        b"id: 12!\nretry: 1\n" + frame({"response": "", "html": [[0, text]], "code": text, "message": text}),
        b'data: {"response":\ndata: "after"}\n\n',
        b"nonsense: x\n\n:" + text.replace("\n", " ").encode() + b"\n\n",
    ]
    await run.send(chain(odd_frames, frames.closing("stop", run.prompt_tokens, 2), [frames.DONE]), delay)


def body_line(body: bytes, **options: object) -> str:
    """The line of a question that has the fake send `body`, whatever it is."""
    data = base64.b64encode(body).decode()
    return " ".join(["fake: body", f"data={data}", *(f"{key}={value}" for key, value in options.items())])


@scenario
async def body(run: Run, data: str = "", label: str = "text/event-stream", size: int = 0) -> None:
    """Any body in writes of `size` bytes (0: whole), under any label."""
    raw = base64.b64decode(data)
    run.connection.start(200, [("Content-Type", label), *run.headers])
    await run.connection.drip((raw[at : at + size] for at in range(0, len(raw), size)) if size else [raw], 0)
    run.connection.end()


@scenario
async def denies(run: Run, data: str = "", http: int = 400) -> None:
    """An error whose message is the text."""
    message = {"code": 5006, "message": _text(data)}
    run.connection.respond(http, {"result": {}, "success": False, "errors": [message], "messages": []})

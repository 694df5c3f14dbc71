"""The fake's scenarios: one function each; its keyword arguments are the options of `fake:` lines.

Every option has a default, which also gives its type. `delay` is in seconds between tokens.
"""

import asyncio
import re
from itertools import chain, islice, repeat

from tests.fake_cloudflare import frames
from tests.fake_cloudflare.errors import HTML, error
from tests.fake_cloudflare.frames import frame
from tests.fake_cloudflare.run import Run, scenario

HOUR = 3600.0


@scenario
async def words(
    run: Run, tokens: int = 0, delay: float = 0.01, text: str = "", first: float = 0.0, at_once: int = 0
) -> None:
    """Repeats the question, or writes "word1 word2 …"; `first` is the wait before the first token.

    The first `at_once` frames come without a delay between them.
    """
    run.open()
    await asyncio.sleep(first)
    whole = iter(frames.catalog(run.tokens(tokens, text), run.prompt_tokens))
    await run.connection.drip(islice(whole, at_once), 0)
    await run.connection.drip(whole, delay)
    run.connection.end()


@scenario
async def held(run: Run, key: str = "", after: int = 10, tokens: int = 20) -> None:
    """Says `after` of its tokens at once, and the others when the test says `fake.go_on(key)`."""
    run.open()
    whole = [*frames.catalog(frames.numbered(tokens, run.word), run.prompt_tokens)]
    opened = after + 1
    await run.connection.drip(whole[:opened], 0)
    await run.gates[key].wait()
    await run.connection.drip(whole[opened:], 0)
    run.connection.end()


@scenario
async def native(run: Run, tokens: int = 0, delay: float = 0.01, text: str = "") -> None:
    await run.send(frames.native(run.tokens(tokens, text), run.prompt_tokens), delay)


@scenario
async def openai(run: Run, tokens: int = 0, delay: float = 0.01, text: str = "") -> None:
    await run.send(frames.openai(run.tokens(tokens, text), run.prompt_tokens), delay)


@scenario
async def reasoning(
    run: Run,
    think: int = 5,
    tokens: int = 5,
    delay: float = 0.01,
    text: str = "",
    style: str = "reasoning_content",
) -> None:
    """`style`: the field `reasoning_content` or `reasoning`, `both`, or `inline` before `</think>`."""
    thoughts = [f"thought{n} " for n in range(1, think + 1)]
    reply_tokens = run.tokens(tokens, text)
    if style == "inline":
        inline = chain(thoughts, ["</th", "ink>"], reply_tokens)
        await run.send(frames.native(inline, run.prompt_tokens), delay)
        return
    if style == "both":
        thought_frames = (
            frame({"choices": [{"index": 0, "delta": {"reasoning": each, "reasoning_content": each}}]})
            for each in thoughts
        )
    else:
        thought_frames = (frames.chunk(each, style) for each in thoughts)
    await run.send(chain(thought_frames, frames.catalog(reply_tokens, run.prompt_tokens)), delay)


@scenario
async def numbers(run: Run, delay: float = 0.01) -> None:
    """Tokens that look like JSON: reads `see [^1] 2.5 true {"a": 1} end`."""
    tokens = ["see [^", 1, "] ", 2.5, " ", True, None, " ", {"a": 1}, " end"]
    await run.send(frames.catalog(tokens, run.prompt_tokens), delay)


@scenario
async def both(run: Run, tokens: int = 5, delay: float = 0.01, text: str = "") -> None:
    """Send both shapes in every frame."""
    text_frames = (
        frame({"response": each, "choices": [{"index": 0, "delta": {"content": each}}]})
        for each in run.tokens(tokens, text)
    )
    await run.send(
        chain(text_frames, frames.closing("stop", run.prompt_tokens, tokens), [frames.DONE]), delay
    )


@scenario
async def emoji(
    run: Run, text: str = "Grüße 😀 👩‍👩‍👧 日本 \u2028 end", size: int = 3, delay: float = 0.001
) -> None:
    """UTF-8 that every TCP write cuts anew, `size` bytes each."""
    text_frames = (
        f'data: {{"response":"{token}"}}\n\n'.encode()
        for token in re.findall(r"\s?\S+|\s+", text.replace("\\", "").replace('"', ""))
    )
    raw = b"".join(text_frames) + frames.DONE
    await run.send((raw[i : i + size] for i in range(0, len(raw), size)), delay)


@scenario
async def crlf(run: Run, tokens: int = 5, delay: float = 0.01, text: str = "", eol: str = "crlf") -> None:
    line_end = b"\r" if eol == "cr" else b"\r\n"
    whole = frames.catalog(run.tokens(tokens, text), run.prompt_tokens)
    await run.send((piece.replace(b"\n", line_end) for piece in whole), delay)


@scenario
async def comments_only(run: Run, delay: float = 0.1) -> None:
    await run.send(repeat(b": still here\n\n", int(HOUR / delay)), delay)


@scenario
async def hang(run: Run, before: str = "token", after: int = 0, delay: float = 0.01) -> None:
    """Never goes on: `before=headers`, `before=token`, or `after` so many tokens."""
    if before != "headers":
        await run.send(map(frames.chunk, frames.numbered(after)), delay, end=False)
    await asyncio.sleep(HOUR)


@scenario
async def silent(run: Run) -> None:
    await hang(run)


@scenario
async def cut(run: Run, after: int = 3, how: str = "clean", delay: float = 0.01) -> None:
    """Ends after so many tokens: `clean` (the body just ends), `abrupt` (closed inside the body), `reset`."""
    await run.send(map(frames.chunk, frames.numbered(after)), delay, end=how == "clean")
    if how == "reset":
        await run.connection.reset()


@scenario
async def nodone(run: Run, tokens: int = 5, delay: float = 0.01, text: str = "") -> None:
    """A finish reason, but no `[DONE]`."""
    await run.send(frames.catalog(run.tokens(tokens, text), run.prompt_tokens, done=False), delay)


@scenario
async def length(run: Run, tokens: int = 5, delay: float = 0.01, text: str = "") -> None:
    await run.send(frames.catalog(run.tokens(tokens, text), run.prompt_tokens, reason="length"), delay)


@scenario
async def filtered(run: Run, tokens: int = 5, delay: float = 0.01) -> None:
    """A content filter ends the reply after so many tokens."""
    text_frames = frames.catalog(frames.numbered(tokens), run.prompt_tokens, reason="content_filter")
    await run.send(text_frames, delay)


@scenario
async def budget(run: Run, tokens: int = 5, delay: float = 0.01) -> None:
    """No finish reason; only the count says that all the tokens that were allowed are used up."""
    await run.send(
        frames.native(frames.numbered(tokens), run.prompt_tokens, completion=run.max_tokens), delay
    )


@scenario
async def burnt(run: Run, think: int = 5, tokens: int = 0, enough: int = 0, delay: float = 0.01) -> None:
    """Its tokens end in the thinking, or after so many of the text. With `enough` of them it answers, as it
    does where it need not think."""
    switches = run.body.get("chat_template_kwargs", {})
    thinks = switches.get("enable_thinking", True) and run.body.get("reasoning_effort") not in ("none", "low")
    if not thinks or 0 < enough <= run.max_tokens:
        await reasoning(run, think if thinks else 0, 5, delay)
        return
    thought = (frames.chunk(f"thought{n} ", "reasoning_content") for n in range(1, think + 1))
    text_frames = frames.catalog(frames.numbered(tokens), run.prompt_tokens, reason="length")
    await run.send(chain(thought, text_frames), delay)


@scenario
async def empty(run: Run) -> None:
    await run.send(frames.catalog([], run.prompt_tokens), 0)


@scenario
async def after_done(run: Run, tokens: int = 5, delay: float = 0.01) -> None:
    whole = frames.catalog(frames.numbered(tokens), run.prompt_tokens)
    await run.send(chain(whole, [frames.chunk(" too late"), frames.DONE]), delay)


@scenario
async def instream_error(
    run: Run, code: int = 3040, after: int = 3, shape: str = "errors", delay: float = 0.01
) -> None:
    """An error after so many tokens; `shape`: `errors`, `error`, `success` or `event`."""
    _, body = error(code)
    assert isinstance(body, dict)
    message = {"code": code, "message": f"AiError: error {code}"}
    shapes = {
        "errors": frame({"errors": [message]}),
        "error": frame({"error": message}),
        "success": frame(body),
        "event": b"event: error\n" + frame(message),
    }
    await run.send(chain(map(frames.chunk, frames.numbered(after)), [shapes[shape]]), delay)


@scenario
async def malformed(run: Run, after: int = 3, delay: float = 0.01) -> None:
    broken = [frame('{"response":'), frames.DONE]
    await run.send(chain(map(frames.chunk, frames.numbered(after)), broken), delay)


@scenario
async def endless_line(run: Run, mb: int = 50) -> None:
    run.open()
    run.connection.write(b'data: {"response":"')
    await run.connection.flood(b"x" * 65536, mb * 16)
    run.connection.end()


@scenario
async def tools(run: Run, delay: float = 0.01, calls: int = 1) -> None:
    """Calls `weather` with `{"at": "Oslo"}`, so many times."""
    call_deltas = [
        {"index": 0, "id": "call_1", "type": "function", "function": {"name": "weather", "arguments": ""}},
        {"index": 0, "id": None, "type": "function", "function": {"name": None, "arguments": '{"at": '}},
        {"index": 0, "id": None, "type": None, "function": {"name": None, "arguments": '"Oslo"}'}},
    ]
    others = [
        each | {"index": n, "id": each["id"] and f"call_{n + 1}"}
        for n in range(calls)
        for each in call_deltas
    ]
    called = (
        frame({"choices": [{"index": 0, "delta": {"content": None, "tool_calls": [each]}}]})
        for each in others
    )
    await run.send(chain(called, frames.closing("tool_calls", run.prompt_tokens, 3), [frames.DONE]), delay)


@scenario
async def json(run: Run, text: str = "", shape: str = "response", code: int = 3040) -> None:
    """A JSON response; `shape`: response, choices, both, bare, streamed_data, empty, error."""
    reply_text = text or f"You said: {run.question}"
    counted = {"usage": frames.usage(run.prompt_tokens, len(frames.tokens_of(reply_text)))}
    message = {"role": "assistant", "content": reply_text}
    choices = {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]} | counted
    results: dict[str, object] = {
        "response": {"response": reply_text, "tool_calls": []} | counted,
        "choices": choices,
        "both": choices | {"response": reply_text},
        "streamed_data": {"streamed_data": [{"response": each} for each in frames.tokens_of(reply_text)]},
        "empty": {},
    }
    if shape == "bare":
        body: object = choices
    elif shape == "error":
        body = error(code)[1]
    else:
        body = {"result": results[shape], "success": True, "errors": [], "messages": []}
    run.connection.respond(200, body, run.headers)


@scenario
async def redirect(run: Run, to: str = "", http: int = 302) -> None:
    """Redirect to `/stolen` of this fake under another host name, where it would be recorded."""
    run.connection.respond(
        http, b"", [("Location", to or f"http://localhost:{run.port}/stolen"), *run.headers]
    )


@scenario
async def html(run: Run, http: int = 524) -> None:
    run.connection.respond(http, HTML, run.headers)


@scenario
async def setcookie(run: Run, tokens: int = 5, delay: float = 0.01) -> None:
    run.open(("Set-Cookie", "__cf_bm=fake; path=/"), ("Set-Cookie", "who=me; path=/"))
    await run.connection.drip(frames.catalog(run.tokens(tokens, ""), run.prompt_tokens), delay)
    run.connection.end()


@scenario
async def status(run: Run, http: int = 0, code: int = 3040, retry_after: str = "") -> None:
    """An error in place of the stream; `http=0` is the status that belongs to the code."""
    more = [("Retry-After", retry_after)] if retry_after else []
    run.connection.respond(*error(code, http), [*more, *run.headers])


@scenario
async def flaky(
    run: Run,
    fails: int = 1,
    key: str = "",
    http: int = 0,
    code: int = 3040,
    retry_after: str = "",
    drop: int = 0,
) -> None:
    """The first `fails` calls with this key fail, or with `drop=1` are cut before the headers; then words."""
    run.failures[key] += 1
    if run.failures[key] > fails:
        await words(run, tokens=5)
    elif not drop:
        await status(run, http, code, retry_after)


@scenario
async def fallback(run: Run, step: int = 1, tokens: int = 2) -> None:
    """The gateway's model of that number answered, after those before it failed."""
    run.headers.append(("cf-aig-step", str(step)))
    await words(run, tokens)

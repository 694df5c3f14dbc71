"""Filters of text that arrives in pieces, which may be cut inside a character, a tag or a repetition."""

import re
from collections.abc import Iterable
from typing import ClassVar

MAX_OVERLAP_CHARS = 400  # code points at the end of the earlier text that are compared
# Visible code points; good texts have shorter repetitions, too: "ha ha", a closing brace.
MIN_OVERLAP_CHARS = 8


class SurrogateJoiner:
    """A filter that makes the pieces of one text safe to store and to send.

    Servers written in JavaScript cut strings between UTF-16 code units, so the two surrogates of an emoji may
    arrive in two frames. A lone surrogate becomes U+FFFD, because UTF-8 cannot encode it. NUL is removed,
    because PostgreSQL rejects it.
    """

    __slots__ = ("_half",)

    def __init__(self) -> None:
        self._half = ""

    def add(self, piece: str) -> str:
        if "\0" in piece:
            piece = piece.replace("\0", "")
        if not self._half:
            try:
                piece.encode()  # the cheapest check for the usual case, a piece without surrogates
            except UnicodeEncodeError:
                pass
            else:
                return piece
        return self._joined(piece) if piece else ""

    def _joined(self, piece: str) -> str:
        piece = self._half + piece
        self._half = ""
        if "\ud800" <= piece[-1] <= "\udbff":
            self._half = piece[-1]
            piece = piece[:-1]
        return piece.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def flush(self) -> str:
        half, self._half = self._half, ""
        return "\ufffd" if half else ""


def sanitize(text: str) -> str:
    """Return a complete text without lone surrogates and NUL (see SurrogateJoiner)."""
    joiner = SurrogateJoiner()
    return joiner.add(text) + joiner.flush()


class ThinkSplitter:
    """A splitter for models that write reasoning and reply into one text, as DeepSeek R1 and QwQ do.

    A tag at the very beginning of the text opens the reasoning; elsewhere it is text. `opened`: the model's
    chat template already opens it, so normally the text contains only the closing tag. Blank space around the
    tags is removed. Once `decided`, all that follows is text, and need not pass through here.
    """

    # In lower case, for tags in any: those of the reasoning parsers of vLLM, SGLang and llama.cpp, and what
    # fine-tuned models write.
    CLOSINGS: ClassVar[dict[str, str]] = {
        **{f"<{name}>": f"</{name}>" for name in ("think", "thinking", "thought", "reason", "reasoning")},
        "<seed:think>": "</seed:think>",
        "<mm:think>": "</mm:think>",  # MiniMax M3
        "<ifm|think>": "</ifm|think>",  # K2 Horizon
        "[think]": "[/think]",  # Magistral
        "◁think▷": "◁/think▷",
        "<|begin_of_thought|>": "<|end_of_thought|>",
        "<|start_thinking|>": "<|end_thinking|>",  # Cohere
        "<|inner_prefix|>": "<|inner_suffix|>",  # Apertus
        "[unused16]": "[unused17]",  # Pangu
        "<longcat_think>": "</longcat_think>",
        "<unused94>thought": "<unused95>",  # MedGemma
        "<|channel>thought": "<channel|>",  # Gemma 4
        # Of gpt-oss, where its server does not parse the channels.
        "<|channel|>analysis<|message|>": "<|end|><|start|>assistant<|channel|>final<|message|>",
    }
    RESPONSE, RESPONSE_END = "<|START_RESPONSE|>", "<|END_RESPONSE|>"  # around Cohere's reply

    def __init__(self, *, opened: bool) -> None:
        self.decided = False
        self._close = "</think>" if opened else ""  # while there may be reasoning
        self._opened_by = ""  # the tag in the text
        self._step = self._begin
        self._held = ""
        self._thought: list[str] = []

    def add(self, piece: str) -> tuple[str, str]:
        """Return (reasoning, text) of `piece`; holds back an end that may be the beginning of a tag."""
        return self._step(piece)

    def flush(self, *, complete: bool = False) -> tuple[str, str]:
        """Return (reasoning, text) held back at the end, or where the server itself separates the reasoning.

        `complete`: the reply has ended, and was not cut. If no tag closed the reasoning, there is no text, so
        it is the text as well: a reply about the tag itself begins like this, or the model did not think.
        """
        held, self._held = self._held, ""
        thinks, self.decided = self._close and self._step == self._think, True
        if complete and thinks:
            return held, self._opened_by + "".join(self._thought) + held
        return (held, "") if self._close else ("", held)

    def _begin(self, piece: str) -> tuple[str, str]:
        piece = self._held + piece
        start = piece.lstrip()
        lower = start.lower()
        tag = next((tag for tag in self.CLOSINGS if lower.startswith(tag)), "")
        is_response = start.startswith(self.RESPONSE)
        if not (tag or is_response) and any(
            tag.startswith(lower) for tag in (*self.CLOSINGS, self.RESPONSE.lower())
        ):
            self._held = piece
            return "", ""
        self._held = ""
        if is_response:
            self._close = ""
            return self._reply(start)
        if not tag and not self._close:
            self.decided = True
            return "", piece
        if tag:
            self._opened_by, self._close = start[: len(tag)], self.CLOSINGS[tag]
        self._step = self._think
        return self._think(start[len(tag) :])

    def _think(self, piece: str) -> tuple[str, str]:
        piece = self._held + piece
        if not self._thought:
            piece = piece.lstrip()
        self._held = ""
        # Not `lower`, which makes some letters longer.
        if end := re.search(re.escape(self._close), piece, re.IGNORECASE):
            self._close = ""
            return piece[: end.start()], self._reply(piece[end.end() :])[1]
        thinking = piece
        if kept := _overlap(thinking, self._close):
            thinking, self._held = thinking[:-kept], thinking[-kept:]
        if thinking:
            self._thought.append(thinking)
        return thinking, ""

    def _reply(self, piece: str) -> tuple[str, str]:
        self._step = self._reply
        text, self._held = (self._held + piece).lstrip(), ""
        if text.startswith(self.RESPONSE):
            self._step = self._respond
            return self._respond(text.removeprefix(self.RESPONSE))
        if self.RESPONSE.startswith(text):
            self._held = text
            return "", ""
        self.decided = True
        return "", text

    def _respond(self, piece: str) -> tuple[str, str]:
        text, end, rest = (self._held + piece).partition(self.RESPONSE_END)
        self.decided = bool(end)
        kept = 0 if end else _overlap(text, self.RESPONSE_END)
        self._held = text[len(text) - kept :]
        return "", text[: len(text) - kept] + rest


def split_thought(text: str) -> tuple[str, str]:
    """Return (reasoning, text) of a complete text; it stays whole unless a tag closes the reasoning."""
    splitter = ThinkSplitter(opened=False)
    thought, reply = splitter.add(text)
    return ("", text) if splitter.flush(complete=True)[1] else (thought, reply)


def _overlap(text: str, tag: str) -> int:
    """Return the number of characters at the end of `text` that may begin `tag`, in upper or lower case."""
    for length in range(min(len(text), len(tag) - 1), 0, -1):
        if text[-length:].lower() == tag[:length].lower():
            return length
    return 0


class OverlapFilter:
    """A filter for a continued reply: if the model repeats the end of the earlier text, that is removed.

    It holds back the beginning of the new text while that may still be a repetition.
    """

    def __init__(self, earlier: str) -> None:
        self._end = earlier[-MAX_OVERLAP_CHARS:]
        self._held = ""
        self._closed = not self._end

    def feed(self, text: str) -> str:
        """Take new text. Return what is now known not to be a repetition."""
        if self._closed:
            return text
        self._held += text
        may_repeat = self._held in self._end[:-1]  # and grow into the end of the earlier text
        return "" if may_repeat else self.close()

    def pause(self) -> str:
        """Return the text held back, if there is any, as `close` does: something else stands behind it."""
        return self.close() if self._held else ""

    def close(self) -> str:
        """Return the text held back, without the repetition; from then on `feed` passes everything."""
        self._closed = True
        held, self._held = self._held, ""
        return held[self._repeated(held) :]

    def _repeated(self, text: str) -> int:
        """Return the number of code points at the beginning of `text` that repeat the earlier text's end."""
        for length in range(min(len(text), len(self._end)), 0, -1):
            if text.startswith(self._end[-length:]):
                return length if len("".join(text[:length].split())) >= MIN_OVERLAP_CHARS else 0
        return 0


class StopSequences:
    """A text that arrives in pieces and ends before the first of the sequences.

    Text that may be the beginning of a sequence is held back until the next piece, or until `flush`.
    """

    def __init__(self, stops: Iterable[str]) -> None:
        self._stops = tuple(stops)
        self._held = ""
        self.found = False

    def add(self, piece: str) -> str:
        """Return the text that is certain after this piece; nothing follows a sequence."""
        if self.found:
            return ""
        text = self._held + piece
        found = [(at + len(stop), at) for stop in self._stops if (at := text.find(stop)) >= 0]
        self.found = bool(found)
        # The sequence that is complete first counts, so that it does not matter where pieces are cut.
        certain = min(found)[1] if found else min(_start_of_prefix(text, stop) for stop in self._stops)
        self._held = "" if self.found else text[certain:]
        return text[:certain]

    def flush(self) -> str:
        held, self._held = self._held, ""
        return held


def _start_of_prefix(text: str, stop: str) -> int:
    """Return where `text` ends with a beginning of `stop`, else its length."""
    start = text.find(stop[0], max(0, len(text) - len(stop) + 1))
    while start >= 0 and not stop.startswith(text[start:]):
        start = text.find(stop[0], start + 1)
    return start if start >= 0 else len(text)

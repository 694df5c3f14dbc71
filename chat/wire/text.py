"""Filters of text that arrives in pieces, which may be cut inside a character, a tag or a repetition."""

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

    Their chat template already opens the reasoning, so normally the text contains only the closing tag.
    Everything before it is reasoning; an opening tag at the beginning is removed.
    """

    OPEN = "<think>"
    CLOSE = "</think>"

    def __init__(self) -> None:
        self.thinking = True
        self._at_start = True
        self._held = ""

    def add(self, piece: str) -> tuple[str, str]:
        """Return (reasoning, text) of `piece`; holds back an end that may be the beginning of a tag."""
        if not self.thinking:
            return "", piece
        piece = self._held + piece
        self._held = ""
        if self._at_start:
            start = piece.lstrip()
            if self.OPEN.startswith(start) and start != self.OPEN:
                self._held = piece
                return "", ""
            self._at_start = False
            if start.startswith(self.OPEN):
                piece = start.removeprefix(self.OPEN)
        thinking, tag, text = piece.partition(self.CLOSE)
        if tag:
            self.thinking = False
            return thinking, text
        kept = _overlap(thinking, self.CLOSE)
        if kept:
            thinking, self._held = thinking[:-kept], thinking[-kept:]
        return thinking, ""

    def flush(self) -> str:
        """Return the text held back, which is reasoning, not a tag. Text added afterwards is the reply."""
        held, self._held = self._held, ""
        self.thinking = False
        return held


def _overlap(text: str, tag: str) -> int:
    """Return the number of characters at the end of `text` that may be the beginning of `tag`."""
    for length in range(min(len(text), len(tag) - 1), 0, -1):
        if text.endswith(tag[:length]):
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
        return "" if self._may_repeat() else self.close()

    def close(self) -> str:
        """Return the text held back, without the repetition; from then on `feed` passes everything."""
        self._closed = True
        held, self._held = self._held, ""
        return held[self._repeated(held) :]

    def _may_repeat(self) -> bool:
        """Return True if the text so far can still grow into a repetition of the end of the earlier text."""
        return self._held in self._end[:-1]

    def _repeated(self, text: str) -> int:
        """Return the number of code points at the beginning of `text` that repeat the earlier text's end."""
        for length in range(min(len(text), len(self._end)), 0, -1):
            if text.startswith(self._end[-length:]):
                return length if len("".join(text[:length].split())) >= MIN_OVERLAP_CHARS else 0
        return 0

"""Text that arrives in pieces cut anywhere: inside a character, and inside a tag."""


class SurrogateJoiner:
    """Makes the pieces of one text safe to store and to send.

    Servers written in JavaScript cut strings between UTF-16 units, so the two halves of an emoji may come in
    two frames. A half that stays alone becomes U+FFFD, because UTF-8 cannot carry it. NUL is dropped, because
    PostgreSQL refuses it.
    """

    __slots__ = ("_half",)

    def __init__(self) -> None:
        self._half = ""

    def add(self, piece: str) -> str:
        if "\0" in piece:
            piece = piece.replace("\0", "")
        if not self._half:
            try:
                piece.encode()  # the cheapest way to learn that there are no halves, as nearly always
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
    """The same for a text that is complete."""
    joiner = SurrogateJoiner()
    return joiner.add(text) + joiner.flush()


class ThinkSplitter:
    """Tells thinking from answer in the text of models that write both into one, as DeepSeek R1 and QwQ do.

    Their prompt template already opens the thinking, so normally only the closing tag is in the text.
    Everything before it is thinking; an opening tag at the very start is dropped.
    """

    OPEN = "<think>"
    CLOSE = "</think>"

    def __init__(self) -> None:
        self.thinking = True
        self._at_start = True
        self._held = ""

    def add(self, piece: str) -> tuple[str, str]:
        """`(thinking, answer)` that `piece` brings; an end that may begin a tag is held back."""
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
        thinking, tag, answer = piece.partition(self.CLOSE)
        if tag:
            self.thinking = False
            return thinking, answer
        kept = _overlap(thinking, self.CLOSE)
        if kept:
            thinking, self._held = thinking[:-kept], thinking[-kept:]
        return thinking, ""

    def flush(self) -> str:
        """What was held back: no tag came of it, so it is thinking. A text that follows is answer."""
        held, self._held = self._held, ""
        self.thinking = False
        return held


def _overlap(text: str, tag: str) -> int:
    """How many characters at the end of `text` could be the beginning of `tag`."""
    for length in range(min(len(text), len(tag) - 1), 0, -1):
        if text.endswith(tag[:length]):
            return length
    return 0

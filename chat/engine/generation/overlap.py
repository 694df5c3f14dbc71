"""Remove the overlap of a continued reply: the end of the earlier text that the model repeats."""

LONGEST = 400  # code points at the end of the earlier text that are compared
SHORTEST = 8  # visible code points; good texts have shorter repetitions, too: "ha ha", a closing brace


class OverlapFilter:
    """A filter that holds back the beginning of the new text while it may still be a repetition."""

    def __init__(self, earlier: str) -> None:
        self._end = earlier[-LONGEST:]
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
        """Return whether the text so far can still grow into a repetition of the end of the earlier text."""
        return self._held in self._end[:-1]

    def _repeated(self, text: str) -> int:
        """Return the number of code points at the beginning of `text` that repeat the earlier text's end."""
        for length in range(min(len(text), len(self._end)), 0, -1):
            if text.startswith(self._end[-length:]):
                return length if len("".join(text[:length].split())) >= SHORTEST else 0
        return 0

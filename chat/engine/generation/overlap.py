"""The seam of a reply that is continued: what the model repeats of the old text's end is taken out again."""

LONGEST = 400  # code points of the old text's end that may be repeated
SHORTEST = 8  # visible code points; less is repeated by good texts as well: "ha ha", a closing brace


class OverlapFilter:
    """Holds back the beginning of the new text for as long as it may still be a repetition."""

    def __init__(self, earlier: str) -> None:
        self._end = earlier[-LONGEST:]
        self._held = ""
        self._closed = not self._end

    def feed(self, text: str) -> str:
        """What of the new text is known to be new."""
        if self._closed:
            return text
        self._held += text
        return "" if self._may_repeat() else self.close()

    def close(self) -> str:
        """The rest, when no more comes or it is decided."""
        self._closed = True
        held, self._held = self._held, ""
        return held[self._repeated(held) :]

    def _may_repeat(self) -> bool:
        """Whether what came so far could still become a longer piece that the old text ends with."""
        return self._held in self._end[:-1]

    def _repeated(self, text: str) -> int:
        """How many code points of its beginning are the old text's end."""
        for length in range(min(len(text), len(self._end)), 0, -1):
            if text.startswith(self._end[-length:]):
                return length if len("".join(text[:length].split())) >= SHORTEST else 0
        return 0

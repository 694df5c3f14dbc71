"""Stop sequences, applied here for models whose servers do not know the field `stop`."""

from collections.abc import Iterable


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
        """Return the text that was held back; the reply ends here."""
        held, self._held = self._held, ""
        return held


def _start_of_prefix(text: str, stop: str) -> int:
    """Return where `text` ends with a beginning of `stop`, else its length."""
    start = text.find(stop[0], max(0, len(text) - len(stop) + 1))
    while start >= 0 and not stop.startswith(text[start:]):
        start = text.find(stop[0], start + 1)
    return start if start >= 0 else len(text)

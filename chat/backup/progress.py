"""The progress of a long command: one line that is rewritten on a terminal, else a line every 10 per cent."""

from typing import TextIO


class ProgressLine:
    """A `BackupProgress` that writes to `stream`, which is standard error in the commands.

    With a `unit`, such as "rows", the line also says how many of them are done.
    """

    def __init__(self, stream: TextIO, unit: str = "") -> None:
        self._stream, self._unit = stream, unit
        self._is_terminal = stream.isatty()
        self._last = ("", -1)

    def __call__(self, doing: str, done: int, total: int) -> None:
        percent = 100 * done // total if total else 100
        shown = percent if self._is_terminal else percent // 10 * 10
        if (doing, shown) == self._last:
            return
        former, self._last = self._last[0], (doing, shown)
        amount = f" ({done:,} of {total:,} {self._unit})" if self._unit else ""
        if self._is_terminal:
            lead = "\n" if former not in ("", doing) else "\r"
            self._stream.write(f"{lead}{doing}: {shown} %{amount}")
        else:
            self._stream.write(f"{doing}: {shown} %{amount}\n")
        self._stream.flush()

    def end(self) -> None:
        if self._is_terminal and self._last[0]:
            self._stream.write("\n")

"""Sample questions and replies, in the amounts and shapes of everyday use."""

QUESTIONS = (
    "How do I read a large CSV file in Python without running out of memory?",
    "And if the columns differ from file to file?",
    "Can you show that as a table?",
    "What does it cost me in speed?",
    "Thanks! One more: how would I test this?",
)
PROSE = (
    "That depends on what you do with the rows. If each of them can be handled on its own, read them **one "
    "at a time**: `csv.reader` never holds more than a line, so the size of the file does not matter. If you "
    "need sums or groups over all rows, keep only the *running totals*; see the "
    "[documentation](https://docs.example.org/csv)."
)
LIST = """Three things to keep in mind:

1. Open the file with `newline=""`, or quoted line breaks are torn apart.
2. Name the encoding; do not rely on the machine's own.
3. Skip the byte order mark with `utf-8-sig`:
   - spreadsheets write it,
   - most other programs do not.
"""
CODE = """```python
import csv
from collections import Counter
from pathlib import Path


def totals(path: Path, column: str) -> Counter[str]:
    found: Counter[str] = Counter()
    with path.open(newline="", encoding="utf-8-sig") as file:
        for row in csv.DictReader(file):
            found[row[column]] += 1  # one row at a time
    return found
```
"""
TABLE = """| way | memory | speed |
|:--|--:|--:|
| `csv.reader` | constant | 1.0 |
| `DictReader` | constant | 0.6 |
| a data frame | whole file | 3.1 |

> Measure with a file of your own before you choose.
"""
REPLIES = (
    "\n\n".join((PROSE, CODE, LIST)),
    "\n\n".join((PROSE, LIST)),
    "\n\n".join(("Here you are.", TABLE, PROSE)),
    PROSE,
    "\n\n".join(("# In short", LIST, CODE, PROSE)),
)


def everyday(messages: int) -> list[str]:
    """Return so many questions and replies in turn, each with its number."""
    return [_reply(n // 2) if n % 2 else f"{n // 2 + 1}. {QUESTIONS[n // 2 % 5]}" for n in range(messages)]


def _reply(n: int) -> str:
    return f"{REPLIES[n % 5]}\n\nThat was reply {n + 1}."


def essay(length: int) -> str:
    """A reply of about that many characters, of everything that stands in a reply."""
    parts: list[str] = []
    while sum(map(len, parts)) < length:
        parts.append(f"# Part {len(parts) + 1}\n\n{REPLIES[len(parts) % 5]}\n\n{TABLE}\n\n")
    return "".join(parts)

"""Comparison of two databases: the number of rows of each table, and a digest of their values."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b

from .database import Database, TableRow
from .tables import Table
from .values import COMPARABLE, converter

DIGEST_BYTES = 16
DIGESTS = 1 << (8 * DIGEST_BYTES)
REPORT_ROWS = 2_000

Progress = Callable[[int], None]
"""Called with a number of rows that were read."""


@dataclass(frozen=True, slots=True)
class TableContent:
    """The content of a table: `digest` depends on all values of all rows, and not on the rows' order."""

    rows: int
    digest: str


@dataclass(frozen=True, slots=True)
class TableComparison:
    """A table on both sides. `replaced` values of the source held what PostgreSQL cannot hold."""

    table: str
    source: TableContent
    target: TableContent
    replaced: int

    @property
    def is_same(self) -> bool:
        return self.source == self.target


def compare(
    source: Database, target: Database, tables: list[Table], progress: Progress
) -> Iterator[TableComparison]:
    """Read both databases whole, and yield the comparison of each table."""
    with source.snapshot(), target.snapshot():
        for table in tables:
            before = source.replaced
            content = content_of(table, (row for _, row in source.rows(table)), progress)
            replaced = source.replaced - before
            copied = content_of(table, (row for _, row in target.rows(table)), progress)
            yield TableComparison(table.name, content, copied, replaced)


def content_of(table: Table, rows: Iterable[TableRow], progress: Progress) -> TableContent:
    """Return the content of the rows. Each row has a digest; their sum is that of the table."""
    comparable = converter([column.kind for column in table.columns], COMPARABLE)
    count = total = 0
    for row in rows:
        digest = blake2b(repr(comparable(row)).encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES)
        total += int.from_bytes(digest.digest(), "big")
        count += 1
        if count % REPORT_ROWS == 0:
            progress(REPORT_ROWS)
    progress(count % REPORT_ROWS)
    return TableContent(count, f"{total % DIGESTS:0{2 * DIGEST_BYTES}x}")

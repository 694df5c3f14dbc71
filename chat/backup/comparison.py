"""Comparison of two databases: the number of rows of each table, and a digest of their values."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b

from .database import Database
from .tables import Table, TableRow
from .values import COMPARABLE, STORABLE_IN_POSTGRES, converter

DIGEST_BYTES = 16
DIGESTS = 1 << (8 * DIGEST_BYTES)


@dataclass(frozen=True, slots=True)
class TableContent:
    """The content of a table: `digest` depends on all values of all rows, and not on the rows' order."""

    rows: int
    digest: str
    replaced: int


@dataclass(frozen=True, slots=True)
class TableComparison:
    """A table on both sides. `replaced` values of the source held what PostgreSQL cannot hold."""

    table: str
    source: TableContent
    target: TableContent

    @property
    def is_same(self) -> bool:
        return (self.source.rows, self.source.digest) == (self.target.rows, self.target.digest)

    @property
    def replaced(self) -> int:
        return self.source.replaced - self.target.replaced


def compare(
    source: Database,
    target: Database,
    tables: list[Table],
    counted: Callable[[Iterable[TableRow]], Iterable[TableRow]],
) -> Iterator[TableComparison]:
    """Read both databases whole, and yield the comparison of each table. `counted` passes the rows on."""
    with source.snapshot(), target.snapshot():
        for table in tables:
            found = [content_of(table, counted(side.rows(table))) for side in (source, target)]
            yield TableComparison(table.name, *found)


def content_of(table: Table, rows: Iterable[TableRow]) -> TableContent:
    """Return the content of the rows. Each row has a digest; their sum is that of the table."""
    storable = converter(table.kinds, STORABLE_IN_POSTGRES)
    comparable = converter(table.kinds, COMPARABLE)
    count = total = replaced = 0
    for row in rows:
        stored = storable(row)
        if stored != row:
            replaced += sum(one != other for one, other in zip(stored, row, strict=True))
        digest = blake2b(repr(comparable(stored)).encode(), digest_size=DIGEST_BYTES)
        total += int.from_bytes(digest.digest(), "big")
        count += 1
    return TableContent(count, f"{total % DIGESTS:0{2 * DIGEST_BYTES}x}", replaced)

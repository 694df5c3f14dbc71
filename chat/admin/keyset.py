"""Lists that are read in pages by the position of a row, and not by number.

Each page costs the same, the last one too: it is a range of the index by which the list is sorted. No row is
skipped to reach a page, and no rows are counted beside those of the page.
"""

import json
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.admin.views.main import ORDER_VAR, ChangeList
from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import BooleanField, F, Field, Model, Q, QuerySet, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Concat
from django.http import HttpRequest

from chat.db.rows import column_of
from chat.formats import grouped_number

AFTER, BEFORE, LAST = "after", "before", "last"  # parameters: the key of a row, or the last page

# The values of a column, each found by one step in an index that begins with the column. DISTINCT would read
# all rows.
DISTINCT = """
WITH RECURSIVE found(value) AS (
    SELECT MIN({column}) FROM {table} WHERE {among}
    UNION ALL
    SELECT (SELECT MIN({column}) FROM {table} WHERE {column} > found.value AND {among})
    FROM found WHERE found.value IS NOT NULL
)
SELECT value FROM found WHERE value IS NOT NULL LIMIT {limit}
"""
MAX_VALUES = 200
# jit: PostgreSQL compiles what would be costly without the LIMIT, which takes longer than the query.
# random_page_cost: that of disks without seek time, or cached pages. With the default of 4, it reads all
# 100,000 conversations to find 2,000 by their keys.
PLANNING = "SELECT set_config('jit', 'off', false), set_config('random_page_cost', '1.1', false)"


def distinct_values(model: type[Model], name: str, among: str = "1 = 1") -> list[Any]:
    """Return the first values of a column in order. An index has to begin with the column.

    `among` is the SQL condition of that index, if it is a partial one.
    """
    quoted, field = connection.ops.quote_name, model._meta.get_field(name)
    assert isinstance(field, Field)
    statement = DISTINCT.format(
        table=quoted(model._meta.db_table),
        column=quoted(str(field.column)),
        among=among,
        limit=MAX_VALUES,
    )
    return column_of(statement)


def key_in(model: type[Model], keys: Iterable[uuid.UUID]) -> Q:
    """Return the condition that the primary key of the model, which the query is about, is one of `keys`.

    They are one parameter: Django would convert and pass each. An index answers it, below an OR too.
    """
    quoted, key = connection.ops.quote_name, model._meta.pk
    column = f"{quoted(model._meta.db_table)}.{quoted(str(key.column))}"
    if connection.vendor == "sqlite":
        among: str = "IN (SELECT value FROM json_each(%s))"
        sent: Any = json.dumps([each.hex for each in keys])
    else:
        among, sent = "= ANY(%s)", list(keys)
    return Q(RawSQL(f"{column} {among}", [sent], BooleanField()))  # noqa: S611


def unindexed(name: str) -> Concat:
    """Return the column as an expression, to group by.

    If a query groups by the column itself, SQLite reads a whole index that begins with it, instead of the few
    rows in the period.
    """
    return Concat(F(name), Value(""))


def beyond(
    rows: QuerySet[Any], ordering: Sequence[str], key: Any, *, back: bool = False
) -> QuerySet[Any] | None:
    """Return the rows after the row `key` in the given order, the nearest first; with `back` those before it.

    Return None if there is no such row. The columns of the order must not be null, and the last has to be
    unique.
    """
    names = [name.removeprefix("-") for name in ordering]
    try:
        values = rows.model._default_manager.filter(pk=key).values_list(*names).first()
    except (ValueError, ValidationError):
        return None
    if values is None:
        return None
    below = [name.startswith("-") != back for name in ordering]
    found = rows.filter(_bound(names, values, below))
    return found.reverse() if back else found


def _bound(names: Sequence[str], values: Sequence[Any], below: Sequence[bool]) -> Q:
    """Return the condition of the rows beyond `values`.

    Without OR, so that a database reads one range of the index, which the first column bounds.
    """
    side = "lt" if below[0] else "gt"
    if len(names) == 1:
        return Q(**{f"{names[0]}__{side}": values[0]})
    nearer = Q(**{names[0]: values[0]}) & ~_bound(names[1:], values[1:], below[1:])
    return Q(**{f"{names[0]}__{side}e": values[0]}) & ~nearer


def _plan_for_short_results() -> None:
    """Let PostgreSQL plan the queries of this connection for results of few rows, found by an index."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(PLANNING)


class KeysetChangeList(ChangeList):
    """Django's list, in pages that begin after, or end before, a row.

    `first_url`, `previous_url`, `next_url` and `last_url` are those of the other pages, "" where there is
    none. The list can be sorted only by the columns in the admin's `sortable_by`, which have an index.
    """

    first_url = previous_url = next_url = last_url = ""

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Any]:
        _plan_for_short_results()
        self._position = {name: self._take(name) for name in (AFTER, BEFORE, LAST)}
        if order := self.params.get(ORDER_VAR):
            self.params[ORDER_VAR] = ".".join(filter(self._is_sortable, order.split(".")))
        return super().get_queryset(request, exclude_parameters)

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[Any]:
        """Return the chosen order; equal rows have the list's own order, so that an index fits the whole."""
        found: list[Any] = list(super().get_ordering(request, queryset))
        if self.params.get(ORDER_VAR) and found:
            sign = "-" if found[0].startswith("-") else ""
            own = [name.removeprefix("-") for name in [*(self.model_admin.ordering or ()), "pk"]]
            chosen = [name for name in found if name.removeprefix("-") not in own]
            return [*chosen, *(sign + name for name in own)]
        return found

    def _take(self, name: str) -> str:
        """Return a parameter. The links of filters and columns do not repeat it."""
        self.filter_params.pop(name, None)
        return self.params.pop(name, "")

    def _is_sortable(self, column: str) -> bool:
        number = column.removeprefix("-")
        known = number.isdecimal() and int(number) < len(self.list_display)
        return known and self.list_display[int(number)] in (self.sortable_by or ())

    def get_results(self, request: HttpRequest) -> None:
        rows, has_previous, has_next = self._page()
        self.result_list: Any = rows
        self._is_whole = not (has_previous or has_next)
        self.result_count = len(rows)
        # If both numbers are equal, Django's search box shows none.
        self.full_result_count = None if self._is_whole else self.result_count
        self.show_full_result_count, self.show_admin_actions = False, True
        self.can_show_all, self.multi_page = False, False
        if has_previous and rows:
            self.first_url = self.get_query_string()
            self.previous_url = self.get_query_string({BEFORE: rows[0].pk})
        if has_next and rows:
            self.next_url = self.get_query_string({AFTER: rows[-1].pk})
            self.last_url = self.get_query_string({LAST: "1"})

    @property
    def count_text(self) -> str:
        """Return the number of rows if they fit on one page. Longer lists are not counted, see the module."""
        return grouped_number(self.result_count) if self._is_whole else f"{self.list_per_page}+"

    def _page(self) -> tuple[list[Any], bool, bool]:
        """Return the rows of the page, and whether there are rows before and after them."""
        size, ordering = self.list_per_page, self.queryset.query.order_by
        after, before, last = self._position.values()
        if after and (rows := beyond(self.queryset, ordering, after)) is not None:
            found = list(rows[: size + 1])
            return found[:size], True, len(found) > size
        back = self.queryset.reverse() if last else None
        if before:
            back = beyond(self.queryset, ordering, before, back=True)
        if back is not None:
            found = list(back[: size + 1])
            if last or len(found) > size:
                return (
                    found[size - 1 :: -1] if len(found) > size else found[::-1],
                    len(found) > size,
                    not last,
                )
        found = list(self.queryset[: size + 1])
        return found[:size], False, len(found) > size

    def neighbours(self, key: uuid.UUID) -> tuple[Any, Any]:
        """Return the keys of the rows before and after `key`; None if there is none.

        Both are None if `key` is not in the list.
        """
        if not self.queryset.filter(pk=key).exists():
            return None, None
        ordering, keys = self.queryset.query.order_by, self.queryset.values_list("pk", flat=True)
        found = (beyond(keys, ordering, key, back=back) for back in (True, False))
        before, after = (rows.first() if rows is not None else None for rows in found)
        return before, after

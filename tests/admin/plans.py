"""Check that the queries of a page of the administration find their rows by an index."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import connection
from django.test import Client

# The tables that grow with the messages. Those of people, keys and models are small beside them.
BIG = (
    "chat_conversation",
    "chat_message",
    "chat_run",
    "chat_call",
    "chat_titlerequest",
    "chat_feedback",
    "chat_searchdocument",
    "chat_search_words",
    "chat_conversationaccess",
    "chat_conversationaccessowner",
    "chat_sharedlink",
)
SCAN = re.compile(r"^SCAN (\w+)(.*)$")
# Indexes of few rows, as of those with an error.
PARTIAL = {
    each.name
    for model in apps.get_models()
    for each in (*model._meta.indexes, *model._meta.constraints)
    if getattr(each, "condition", None) is not None
}
# Below these nodes of PostgreSQL no more rows are read than are asked for.
ENDS_EARLY = ("Limit", "Nested Loop", "Hash Join", "Merge Join", "Subquery Scan", "Incremental Sort")


@dataclass(frozen=True, slots=True)
class Allowed:
    """The plans that a page's queries may have besides look-ups.

    `walks`: read a table or an index in its order until there are enough rows, since most rows match.
    `sorts`: sort what they have found.
    """

    walks: bool = False
    sorts: bool = False


def faults(client: Client, address: str, allowed: Allowed) -> list[str]:
    """Return what the queries of this page do that is not allowed."""
    return faults_of(queries(client, address), allowed)


def faults_of(executed: Iterable[tuple[str, Any]], allowed: Allowed) -> list[str]:
    found = []
    for sql, parameters in executed:
        tables = [name for name in BIG if f'"{name}"' in sql or re.search(rf"\b{name}\b", sql)]
        if tables and re.match(r"\s*(SELECT|WITH)\b", sql):
            of_plan = _of_sqlite if connection.vendor == "sqlite" else _of_postgres
            found += [
                f"{fault}: {' '.join(sql.split())[:300]}" for fault in of_plan(sql, parameters, allowed)
            ]
    return found


def queries(client: Client, address: str) -> list[tuple[str, Any]]:
    """Return the queries of this page."""
    with executed() as found:
        assert client.get(address).status_code == 200, address
    return found


@contextmanager
def executed() -> Iterator[list[tuple[str, Any]]]:
    """Keep (SQL, parameters) as they are sent: with literals in their place, SQLite plans otherwise."""
    found: list[tuple[str, Any]] = []

    def keep(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        found.append((sql, parameters))
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(keep):
        yield found


def _of_sqlite(sql: str, parameters: Any, allowed: Allowed) -> Iterator[str]:
    aliases = dict(re.findall(r'"?(chat_\w+)"? (?:AS )?"?([A-Za-z]\w*)"?', sql))
    names = {*BIG, *(alias for table, alias in aliases.items() if table in BIG)}
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)
        for *_, step in cursor.fetchall():
            scan = SCAN.match(step)
            if scan and scan[1] in names and not _is_bounded(scan[2], sql, allowed):
                yield step
            if step == "USE TEMP B-TREE FOR ORDER BY" and not allowed.sorts:
                yield step


def _is_bounded(how: str, sql: str, allowed: Allowed) -> bool:
    if "VIRTUAL TABLE" in how or (allowed.walks and "LIMIT" in sql):
        return True
    return how.rpartition(" ")[2] in PARTIAL


def _of_postgres(sql: str, parameters: Any, allowed: Allowed) -> Iterator[str]:
    switches = ["enable_seqscan", *([] if allowed.sorts else ["enable_sort", "enable_bitmapscan"])]
    with connection.cursor() as cursor:
        for switch in switches:  # off: avoided where there is another way, since these tables are small
            cursor.execute(f"SET {switch} = off")
        cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", parameters)
        ((plans,),) = cursor.fetchall()
        for switch in switches:
            cursor.execute(f"RESET {switch}")
    yield from _of_node(plans[0]["Plan"], allowed, limited=False)


def _of_node(node: dict[str, Any], allowed: Allowed, *, limited: bool) -> Iterator[str]:
    kind = node["Node Type"]
    if node.get("Relation Name") in BIG and not _finds(node, allowed, limited=limited):
        yield f"{kind} of {node['Relation Name']} by {node.get('Index Name')}"
    if kind == "Sort" and not allowed.sorts:
        yield f"Sort by {node['Sort Key']}"
    for below in node.get("Plans", ()):
        yield from _of_node(below, allowed, limited=kind == "Limit" or (limited and kind in ENDS_EARLY))


def _finds(node: dict[str, Any], allowed: Allowed, *, limited: bool) -> bool:
    """Return True if this node reads the rows that it returns, and few others."""
    if node["Node Type"] == "Bitmap Heap Scan" or "Index Cond" in node or node.get("Index Name") in PARTIAL:
        return True
    if allowed.walks and node["Relation Name"] == "chat_feedback":
        return True  # hashed once, to leave its conversations out: it is little beside them
    return limited and (allowed.walks or "Filter" not in node)

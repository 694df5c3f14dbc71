"""The table that a run of all rounds prints."""

from .faults import Fault, Kind
from .table import WHAT, Totals
from .verdict import Counts


def test_the_table_sums_rounds_and_names_what_was_skipped() -> None:
    totals = Totals("postgres", {Kind.CLOCK: "needs libfaketime"})
    totals.add([Fault(1.0, Kind.KILL, 0), Fault(2.0, Kind.CUT)], Counts(replies=8, seen=1_200, lost=3))
    totals.add([Fault(1.0, Kind.KILL, 1)], Counts(replies=8, seen=34))
    lines = str(totals).splitlines()
    assert lines[0] == "postgres: 2 rounds, 3 faults (1 cut, 2 kill)"
    assert [line.split()[-1] for line in lines if "characters seen" in line] == ["1,234"]
    assert [line.split()[-1] for line in lines if line.strip().startswith("characters lost")] == ["3"]
    assert lines[-1] == "  skipped: clock, needs libfaketime"


def test_the_table_has_a_line_for_each_count() -> None:
    assert list(WHAT) == list(Counts.__dataclass_fields__)

"""The arithmetic of the bench."""

import math

from .table import Line, percentile, table


def test_a_percentile_is_a_value_that_was_measured() -> None:
    values = [float(n) for n in range(100, 0, -1)]
    assert (percentile(values, 0.5), percentile(values, 0.99), percentile(values, 1)) == (50, 99, 100)
    assert percentile([7.0], 0.5) == percentile([7.0], 0.99) == 7
    assert math.isnan(percentile([], 0.5))


def test_a_line_says_whether_its_mark_is_met() -> None:
    assert Line("memory", 90.0, "MB", 90.0).verdict == "met"
    assert Line("memory", 92.5, "MB", 90.0).verdict == "missed by 2.50 MB"
    assert Line("memory", math.nan, "MB", 90.0).missed
    assert Line("memory", 92.5, "MB").verdict == ""


def test_the_table_aligns_its_columns() -> None:
    lines = [Line("a token", 68.24, "µs", 70.0), Line("all of it", 1234.5, "µs")]
    assert table("CPU", lines) == "CPU\n  a token     68.2 µs  ≤ 70 µs  met\n  all of it  1,234 µs"


def test_a_least_is_missed_from_below() -> None:
    assert Line("streams", 1.7, "×", 1.8, at_least=True).verdict == "missed by 0.10 ×"
    assert Line("streams", 1.9, "×", 1.8, at_least=True).cells()[2:] == ("≥ 1.80 ×", "met")
    assert Line("streams", math.nan, "×", 1.8, at_least=True).missed

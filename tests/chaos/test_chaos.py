"""The short form of `make chaos`: the faults that once cost whole replies, against real processes."""

import pytest

from tests.support.databases import Template

from .faults import Fault, How, Kind
from .round import Round
from .schedule import Size, replies
from .stage import staged

pytestmark = pytest.mark.database
SIZE = Size(replies=6, rate=10.0, span=6.0, shortest=22.0, longest=26.0)
AWAY_SECONDS = 13.0  # just longer than a process may be silent
OUTAGE = {
    "sqlite": Fault(3.0, Kind.LOCK, None, 21.0),  # longer than SQLite itself waits for a lock
    "postgres": Fault(3.0, Kind.DATABASE, None, AWAY_SECONDS, How.REFUSED),
}


async def test_an_outage_and_a_frozen_process_cost_no_character(template: Template) -> None:
    faults = [OUTAGE[template.kind], Fault(5.0, Kind.FREEZE, 0, 15.0)]
    async with staged(template.kind, template) as stage:
        report = await Round(stage, replies(1, SIZE), faults, looks=False).run()
    assert not report.total.failures
    assert report.total.seen > SIZE.replies * 1_000

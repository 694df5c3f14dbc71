"""The content of the database after a round."""

from dataclasses import dataclass, field

from tests.support.databases import Database

from .upstream import name_in

LIVE = ("queued", "running")
RUNS = """
SELECT r.id, r.status, r.client_key, q.text, m.text, m.reasoning
FROM chat_run r JOIN chat_message m ON m.id = r.message_id JOIN chat_message q ON q.id = m.parent_id
"""
STEPS = """
SELECT q.text, s.number, s.state
FROM chat_step s JOIN chat_message m ON m.id = s.message_id JOIN chat_message q ON q.id = m.parent_id
"""
CHUNKS = "SELECT run_id, kind, start, text FROM chat_runchunk ORDER BY run_id, kind, start"


@dataclass(slots=True)
class Stored:
    """All rows of one reply's name: one run and one question, or the server has made more of them."""

    statuses: list[str] = field(default_factory=list)
    text: str = ""
    reasoning: str = ""
    steps: dict[int, str] = field(default_factory=dict)  # the state of each
    questions: int = 0
    runs: list[str] = field(default_factory=list)

    @property
    def status(self) -> str:
        return self.statuses[0] if self.statuses else ""

    @property
    def live(self) -> int:
        return sum(status in LIVE for status in self.statuses)


def live_rows(database: Database) -> int:
    return int(database.value(f"SELECT COUNT(*) FROM chat_run WHERE status IN {LIVE}"))


def read(database: Database) -> dict[str, Stored]:
    """Return the stored replies by name."""
    found: dict[str, Stored] = {}
    chunks = _chunks(database)
    for run, status, _key, question, text, reasoning in database.rows(RUNS):
        stored = found.setdefault(name_in(question), Stored())
        stored.runs.append(str(run).replace("-", ""))
        stored.statuses.append(status)
        more = chunks.get(str(run), {}) if status in LIVE else {}
        stored.text += text + more.get("t", "")
        stored.reasoning += reasoning + more.get("r", "")
    for question, number, state in database.rows(STEPS):
        found.setdefault(name_in(question), Stored()).steps[number] = state
    for (question,) in database.rows("SELECT text FROM chat_message WHERE role = 'user'"):
        found.setdefault(name_in(question), Stored()).questions += 1
    return found


def _chunks(database: Database) -> dict[str, dict[str, str]]:
    """The text of runs that are live still; what stands behind a gap is not to be relied on."""
    found: dict[str, dict[str, str]] = {}
    for run, kind, start, text in database.rows(CHUNKS):
        texts = found.setdefault(str(run), {})
        if start <= len(texts.get(kind, "")):
            texts[kind] = texts.get(kind, "")[:start] + text
    return found

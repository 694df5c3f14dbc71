"""Today's server goes on serving while another process migrates its database to the next release."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.support.databases import ROOT, Database
from tests.support.server import PATIENCE, Server
from tests.tools.bench.load import Job, Load
from tests.tools.bench.targets import Chat, Words

pytestmark = pytest.mark.database
STREAMS = 50
QUESTION = Words(300, 0.05)  # 15 seconds: longer than the migration takes, unless the machine is very busy
MESSAGES = 50_000
LONGEST_WAIT = 10.0  # seconds; on two busy cores the slowest send takes 0.3 on PostgreSQL and 1.5 on SQLite
# Django starts in seconds where the machine is busy, so that is over before the streams begin.
MIGRATE = """
from django.core.management import call_command
print("ready", flush=True)
input()
call_command("migrate", "chat", interactive=False)
"""
STORED = {
    "sqlite": """
        WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {messages})
        INSERT INTO chat_message (id, role, text, reasoning, model, created, conversation_id)
        SELECT lower(hex(randomblob(16))), 'user', 'word ' || n, '', '', '2026-01-22 12:00:00', id
        FROM numbers, (SELECT id FROM chat_conversation LIMIT 1)""",
    "postgresql": """
        INSERT INTO chat_message (id, role, text, reasoning, model, created, conversation_id)
        SELECT gen_random_uuid(), 'user', 'word ' || n, '', '', now(), id
        FROM generate_series(1, {messages}) n, (SELECT id FROM chat_conversation LIMIT 1) made""",
}


def migration(server: Server) -> subprocess.Popen[str]:
    """Start a process that migrates to the next release when it is told to. It is ready for that."""
    env = server.env | {"DJANGO_SETTINGS_MODULE": "tests.upgrade.next_release.settings"}
    pipe = subprocess.PIPE
    started = subprocess.Popen(
        [sys.executable, "manage.py", "shell", "-v0", "-c", MIGRATE],
        cwd=ROOT, env=env, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert started.stdout
    assert started.stdout.readline() == "ready\n"
    return started


def migrate(*started: subprocess.Popen[str]) -> list[str]:
    """Let these processes migrate at once; return what each said."""
    for each in started:
        assert each.stdin
        each.stdin.write("go\n")
        each.stdin.flush()
    outputs = [each.communicate(timeout=PATIENCE)[0] for each in started]
    assert not any(each.returncode for each in started), outputs
    return outputs


def vendor(database: Database) -> str:
    return database.url.partition(":")[0]


def test_no_send_is_refused_and_no_stream_is_cut(servers: Callable[..., Server]) -> None:
    server = servers(REQUESTS_PER_MINUTE="1000000")
    alice = server.person("alice")
    stream = alice.asked("fake: words tokens=2 delay=0")
    server.database.rows(STORED[vendor(server.database)].format(messages=MESSAGES))
    chat = Chat(server.url)
    job = Job(chat, QUESTION, STREAMS, over=1.0, probed=(chat,), rounds=1_000, pause=0.1)
    prepared = migration(server)
    with Load(job) as load:
        load.runs()
        (output,) = migrate(prepared)
        report = load.report()
    assert "tomorrow_indexes... OK" in output
    (sends,) = report.probes
    streams = [*report.crowd, *sends]
    cut = [(stream.status, stream.text[-40:]) for stream in streams if not stream.complete]
    assert not cut, server.log.read_text("utf-8")
    assert len({stream.text for stream in report.crowd}) == len({stream.text for stream in sends}) == 1
    assert len(sends) > 3
    waits = [stream.first for stream in sends]
    assert max(waits) < LONGEST_WAIT
    statuses = dict(server.database.rows("SELECT status, COUNT(*) FROM chat_run GROUP BY status"))
    assert statuses == {"complete": 1 + STREAMS + len(sends)}
    goes_on(server, stream.conversation)


def goes_on(server: Server, conversation: str) -> None:
    """The server, which is older than its database now, writes and reads in each of the changed tables."""
    alice = server.person("alice")
    stream = alice.asked("fake: words tokens=3 delay=0")
    assert stream.done["status"] == "complete"
    message = stream.meta["message"]
    assert alice.get(f"/c/{stream.conversation}/").status_code == 200
    again = alice.started(f"/messages/{message}/regenerate/")
    assert again.done["status"] == "complete"
    assert alice.post(f"/c/{conversation}/rename/", {"title": "Boats"}).status_code == 200
    assert alice.post(f"/c/{stream.conversation}/delete/").status_code < 400
    assert "Traceback" not in server.log.read_text("utf-8")


def test_of_two_migrations_at_once_one_migrates(servers: Callable[..., Server]) -> None:
    """The one that waits must not keep the other from building its index: PostgreSQL ends such a deadlock."""
    server = servers()
    outputs = migrate(migration(server), migration(server))
    assert sorted("tomorrow_indexes... OK" in each for each in outputs) == [False, True]


def test_a_migration_that_was_broken_off_runs_again(servers: Callable[..., Server]) -> None:
    server = servers()
    server.database.rows("CREATE INDEX message_by_stars ON chat_message (created)")
    (output,) = migrate(migration(server))
    assert "tomorrow_indexes... OK" in output

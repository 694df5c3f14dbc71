"""`python -m tests.tools.reload`: replace the workers by the same and by the next release, under load.

Half of the streams belong to those who asked, the other half to others who follow the same replies. Meanwhile
people add pictures and documents of 10 MB, and ask about them. The next release has further migrations and
another style sheet. All rows of the table but the first ones must be zero.
"""

import argparse
import asyncio
import re
import sys
import time
import uuid
from collections import Counter
from pathlib import Path

import httpx
import psycopg
import redis

from tests.deploy.fronts import FRONTS, Front
from tests.support.databases import POSTGRES, REDIS, Template
from tests.tools.bench.stage import Stage

from .crowd import TOKEN_SECONDS, Crowd, Load
from .site import Site

FIRST, BETWEEN, LAST = 4.0, 4.0, 4.0  # seconds before the first reload, between the two, and after
ZERO = {
    "refused": "connections refused",
    "unanswered": "sends whose connection broke",
    "draining": "sends and resumes answered with 503",
    "other statuses": "sends and resumes answered with another error",
    "broken": "streams whose connection broke",
    "cut": "viewers who did not get the end",
    "incomplete": "replies that did not end complete",
    "lost": "characters seen and not stored",
    "unseen": "characters stored and not seen",
    "doubled": "messages stored twice",
    "calls doubled": "requests to the model sent twice",
    "uploads refused": "uploads whose connection was refused",
    "uploads broken": "uploads whose connection broke",
    "uploads with an error": "uploads answered with another error",
    "files lost": "files accepted and not there",
    "static lost": "scripts and styles of the older page that were gone",
}
TOLD = {
    "viewers": "streams",
    "moved": "streams that moved to another worker, and went on",
    "characters": "characters seen",
    "uploads": "uploads",
    "uploads to be tried again": "uploads told to be tried again, and when",
}


async def scenario(site: Site, load: Load, tokens: int) -> tuple[Crowd, list[str]]:
    """Reload, upgrade, and let the replies end. Return the static files of the older page, too."""
    async with httpx.AsyncClient(base_url=site.url, verify=False) as http:
        assets = re.findall(r"/static/[\w./-]+\.(?:css|js)", (await http.get("/accounts/login/")).text)
    enough, crowd = asyncio.Event(), Crowd()
    using = asyncio.create_task(crowd.use(site.url, load, enough, tokens))
    await asyncio.sleep(FIRST)
    for step in (site.reload, site.upgrade):
        began = time.monotonic()
        await asyncio.to_thread(step)
        print(f"  {step.__name__}: new workers after {time.monotonic() - began:.1f} s", flush=True)
        await asyncio.sleep(BETWEEN)
    await asyncio.sleep(LAST)
    enough.set()
    await using
    return crowd, assets


def judge(site: Site, crowd: Crowd, assets: list[str]) -> None:
    """Compare what was seen with what is stored."""
    counts, viewers = crowd.counts, crowd.viewers
    rows = site.server.database.rows(
        "SELECT r.id, r.status, m.text FROM chat_run r JOIN chat_message m ON m.id = r.message_id"
    )
    stored = {uuid.UUID(str(run)): (status, text) for run, status, text in rows}
    for viewer in viewers:
        status, text = stored.get(uuid.UUID(viewer.run), ("", "")) if viewer.run else ("", "")
        counts["incomplete"] += not (status == viewer.status == "complete")
        same = next((n for n, (a, b) in enumerate(zip(viewer.text, text, strict=False)) if a != b), None)
        agreed = min(len(viewer.text), len(text)) if same is None else same
        counts["lost"] += len(viewer.text) - agreed
        counts["unseen"] += len(text) - agreed
        counts["characters"] += len(viewer.text)
    sent = sum(bool(viewer.question) for viewer in viewers)
    questions = site.server.database.value("SELECT COUNT(*) FROM chat_message WHERE role = 'user'")
    counts["doubled"] = max(0, questions - sent) + max(0, len(rows) - sent)
    with httpx.Client(base_url=site.url, verify=False) as http:
        counts["static lost"] = sum(http.get(asset).status_code != 200 for asset in assets) + (not assets)


def calls(stage: Stage) -> int:
    """Return how many replies the fake was asked for since the last call."""
    made = httpx.get(f"{stage.direct.url}/calls", timeout=60).json()
    httpx.delete(f"{stage.direct.url}/calls")
    return sum(call["method"] == "POST" for call in made)


def run(stage: Stage, kind: str, load: Load, tokens: int, front: str) -> Counter[str]:
    """Do all of it on a new database of this kind; `front`: with that proxy before the server."""
    folder = stage.folder / f"reload-{kind}"
    folder.mkdir()
    (folder / "template").mkdir()
    template = Template(folder / "template", kind)
    env = {"REDIS_URL": REDIS} if kind == "postgres" else {}
    server = stage.new_server(template, **env)
    server.folder.joinpath("static").unlink()  # collected by the server itself: the template's is shared
    site = Site(server, folder, load.workers, proxy(front, folder / "front", server.port) if front else None)
    try:
        calls(stage)
        site.start()
        crowd, assets = asyncio.run(scenario(site, load, tokens))
        judge(site, crowd, assets)
        questions = sum(bool(viewer.question) for viewer in crowd.viewers)
        crowd.counts["calls doubled"] = max(0, calls(stage) - questions)
        if "Traceback" in site.log():
            print(site.log()[-4000:], file=sys.stderr)
        return crowd.counts
    finally:
        site.end()
        server.end()
        server.database.drop()
        template.drop()


def proxy(kind: str, folder: Path, port: int) -> Front:
    folder.mkdir()
    return FRONTS[kind](folder, port)


def table(kind: str, counts: Counter[str]) -> str:
    lines = [f"{kind}: {counts['sends a second']} sends a second"]
    lines += [f"  {what:<60} {counts[name]:>9,}" for name, what in (TOLD | ZERO).items()]
    return "\n".join(lines)


def has_servers() -> bool:
    """Return True if PostgreSQL and Redis answer; say why not."""
    try:
        psycopg.connect(POSTGRES, connect_timeout=3).close()
        redis.Redis.from_url(REDIS).ping()
    except (psycopg.OperationalError, redis.ConnectionError) as error:
        print(f"PostgreSQL or Redis is not here, so they are left out: {error}")
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.reload", description=__doc__)
    parser.add_argument("--streams", type=int, default=200, help="open streams")
    parser.add_argument("--sends", type=float, default=20.0, help="messages a second")
    parser.add_argument("--uploads", type=int, default=6, help="files that arrive at any time")
    parser.add_argument("--front", choices=sorted(FRONTS), default="", help="a proxy before the server")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--seconds", type=float, default=45.0, help="length of the long replies")
    parser.add_argument("--database", choices=("sqlite", "postgres"), help="only this one")
    options = parser.parse_args()
    load = Load(options.streams, options.sends, options.uploads, options.workers)
    kinds = [options.database] if options.database else ["sqlite", "postgres"]
    if "postgres" in kinds and not has_servers():
        kinds.remove("postgres")
    failed = not kinds
    with Stage() as stage:
        for kind in kinds:
            counts = run(stage, kind, load, int(options.seconds / TOKEN_SECONDS), options.front)
            print(table(kind, counts), flush=True)
            failed |= any(counts[name] for name in ZERO)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

"""The two programs that look at a page: pa11y (with axe and HTML CodeSniffer) and Lighthouse."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .pages import Look

PROGRAMS = Path(__file__).parent / "node_modules/.bin"
CHROME = os.environ.get("CHROME_PATH") or shutil.which("chromium") or "chromium"
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",  # the address bar's own pages, a second each
]
PATIENCE = 180  # seconds a page
TRIES = 3  # on a busy machine Lighthouse now and then records nothing
CATEGORIES = ("performance", "accessibility", "best-practices")
VIEWS = {"desk": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 800, "isMobile": True}}


class AuditError(Exception):
    """A program did not do its work."""


@dataclass(frozen=True, slots=True)
class Report:
    """Lighthouse's report on a page on a slow phone; times in milliseconds, scores of 100.

    `same_paint`: the largest part was there with the first paint. If both times still differ, it is because
    the simulation has the largest part wait for all that was loaded by then, scripts that block
    nothing as well: https://github.com/GoogleChrome/lighthouse/blob/main/docs/lantern.md
    """

    first_paint: float
    largest_paint: float
    same_paint: bool
    blocked: float
    shifted: float
    scores: tuple[int, ...]  # in the order of CATEGORIES
    failed: tuple[str, ...]  # what costs points


def findings(look: Look) -> list[str]:
    """Return pa11y's findings at both widths."""
    return [f"{name}: {found}" for name, view in VIEWS.items() for found in _pa11y(look, view)]


def _pa11y(look: Look, view: dict[str, Any]) -> list[str]:
    config = {
        "standard": "WCAG2AA",
        "runners": ["axe", "htmlcs"],
        "headers": look.headers,
        "ignore": look.accepted,
        "viewport": view,
        "timeout": PATIENCE * 1000,
        "levelCapWhenNeedsReview": "warning",  # what axe is not sure about is no finding
        "chromeLaunchConfig": {"executablePath": CHROME, "args": FLAGS},
    }
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pa11y.json"
        path.write_text(json.dumps(config))
        output = _run("pa11y", "--reporter", "json", "--config", str(path), look.url, codes=(0, 2))
    return [
        f"{one['code']} {one['message']} {one['selector']} {one['context']}" for one in json.loads(output)
    ]


def measured(look: Look) -> Report:
    """A visit on Lighthouse's slow phone."""
    skipped = [f"--skip-audits={','.join(look.accepted)}"] if look.accepted else []
    report = json.loads(
        _run(
            "lighthouse",
            look.url,
            *skipped,
            "--quiet",
            "--output=json",
            "--ignore-status-code",
            f"--only-categories={','.join(CATEGORIES)}",
            f"--extra-headers={json.dumps(look.headers)}",
            f"--chrome-flags={' '.join(FLAGS)}",
        )
    )
    if "runtimeError" in report:
        raise AuditError(f"Lighthouse on {look.name}: {report['runtimeError']['message']}")
    value = {name: report["audits"][name].get("numericValue", 0.0) for name in report["audits"]}
    seen = report["audits"]["metrics"]["details"]["items"][0]
    first, largest = (seen[f"observed{name}ContentfulPaint"] for name in ("First", "Largest"))
    return Report(
        value["first-contentful-paint"],
        value["largest-contentful-paint"],
        first == largest,
        value["total-blocking-time"],
        value["cumulative-layout-shift"],
        tuple(round(100 * (report["categories"][name]["score"] or 0)) for name in CATEGORIES),
        tuple(_failed(report)),
    )


def _failed(report: dict[str, Any]) -> list[str]:
    references = [ref for name in CATEGORIES for ref in report["categories"][name]["auditRefs"]]
    audits = [report["audits"][name] for name in sorted({ref["id"] for ref in references if ref["weight"]})]
    low = [one for one in audits if one["score"] is not None and one["score"] < 0.9]
    return [f"{one['id']}: {one['title']}" for one in low]


def _run(program: str, *arguments: str, codes: tuple[int, ...] = (0,)) -> str:
    env = {**os.environ, "CHROME_PATH": CHROME}
    for _ in range(TRIES):
        done = subprocess.run(
            [PROGRAMS / program, *arguments], env=env, capture_output=True, text=True, timeout=PATIENCE
        )
        if done.returncode in codes:
            return done.stdout
    raise AuditError(f"{program} ended with {done.returncode}: {done.stderr[-2000:]}")

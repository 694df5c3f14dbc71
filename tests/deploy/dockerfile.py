"""The instructions of deploy/Dockerfile."""

import re

from tests.support.databases import ROOT


def instructions() -> list[tuple[str, str]]:
    """Each as its word and the rest of its line, continued lines joined."""
    text = (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    lines = [re.sub(r"\s+", " ", line) for line in text.splitlines() if line.strip()]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def stages() -> dict[str, list[tuple[str, str]]]:
    """The instructions of each stage by its name, after those of the stage that it continues."""
    found: dict[str, list[tuple[str, str]]] = {}
    name = ""
    for word, rest in instructions():
        if word == "FROM":
            base, _, name = rest.split(" ")
            found[name] = list(found.get(base, []))
        elif name:
            found[name].append((word, rest))
    return found

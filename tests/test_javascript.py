"""rjsmin works by patterns: each module is the same program after it, says the parser of Node.js."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from rjsmin import jsmin

from tests.conftest import missing

MODULES = sorted((Path(__file__).parent.parent / "static/js").glob("*.js"))
# The syntax tree of each source, without positions, and its comments.
PARSE = """
const acorn = require('internal/deps/acorn/acorn/dist/acorn');
const sources = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const parse = (source) => {
  const comments = [];
  const onComment = (block, text) => comments.push(text);
  const tree = acorn.parse(source, { ecmaVersion: 'latest', sourceType: 'module', onComment });
  return { tree, comments };
};
const withoutPositions = (key, value) => (key === 'start' || key === 'end' ? undefined : value);
console.log(JSON.stringify(sources.map(parse), withoutPositions));
"""


def parsed(*sources: str) -> list[dict]:
    node = shutil.which("node")
    if node is None:
        missing("node", "install the package nodejs")
    command = [node, "--expose-internals", "-e", PARSE]
    done = subprocess.run(command, input=json.dumps(sources), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def programs() -> dict[Path, list[dict]]:
    """Return each module before and after; one process reads all, for a start of Node.js takes longer."""
    sources = [module.read_text("utf-8") for module in MODULES]
    before_and_after = parsed(*sources, *map(jsmin, sources))
    return {module: before_and_after[at :: len(MODULES)] for at, module in enumerate(MODULES)}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_a_minified_module_is_the_same_program_without_comments(
    programs: dict[Path, list[dict]], module: Path
) -> None:
    before, after = programs[module]
    assert after["tree"] == before["tree"], "write it without a template inside a template"
    assert after["comments"] == []


def test_a_program_that_was_changed_would_be_seen() -> None:
    """A template inside a template is what rjsmin does not understand."""
    before, after = parsed(*(f"const text = `${{`{inner}`}}`;" for inner in ("a  b", "a b")))
    assert after["tree"] != before["tree"]
    assert jsmin("const text = `${`a  b`}`;") == "const text=`${`a b`}`;"

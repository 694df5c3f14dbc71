"""Comments leave our modules, and nothing else does: compared token by token, by node's own parser."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from chatsite.javascript import without_comments
from tests.conftest import missing

MODULES = sorted((Path(__file__).parent.parent / "static/js").glob("*.js"))
TOKENS = """
const acorn = require('internal/deps/acorn/acorn/dist/acorn');
const sources = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const read = (source) => {
  const comments = [];
  const onComment = (block, text) => comments.push(text);
  const options = { ecmaVersion: 'latest', sourceType: 'module', onComment };
  const tokens = [...acorn.tokenizer(source, options)];
  comments.length = 0;
  acorn.parse(source, options);
  const seen = tokens.map(({ type, value, start }) => [type.label, String(value?.pattern ?? value)]);
  return { tokens: seen, comments };
};
console.log(JSON.stringify(sources.map(read)));
"""


def parsed(*sources: str) -> list[dict]:
    node = shutil.which("node")
    if node is None:
        missing("node", "install the package nodejs")
    command = [node, "--expose-internals", "-e", TOKENS]
    done = subprocess.run(command, input=json.dumps(sources), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_each_of_our_modules_is_the_same_program_without_a_comment(module: Path) -> None:
    source = module.read_text("utf-8")
    before, after = parsed(source, without_comments(source))
    assert after["tokens"] == before["tokens"]
    assert after["comments"] == []


HARD = r"""/*! A licence. */
/**
 * What it does, with `ticks`, 'quotes' and // slashes.
 */
import { a } from './a.js'; // why
const text = '// no comment' + "/* nor this */" + 'it\'s // still text';
const template = `
  // no comment
  /* nor this */ ${{ a: `inner // text ${a /* kept */ + 1}` }.a} }
  // nor this
`;
const slashes = /[/]\/\/ '"`/.test(text) ? a / 2 / 3 : [1] / 2;
  // gone, with its indent
const quotes = text.replace(/'/g, "//"); // gone
function f(x) {
  return /\/\*/.test(x); /* gone */
}
const nested = `${`${`}//`}`}`;
"""
STRIPPED = r"""/*! A licence. */
import { a } from './a.js';
const text = '// no comment' + "/* nor this */" + 'it\'s // still text';
const template = `
  // no comment
  /* nor this */ ${{ a: `inner // text ${a /* kept */ + 1}` }.a} }
  // nor this
`;
const slashes = /[/]\/\/ '"`/.test(text) ? a / 2 / 3 : [1] / 2;
const quotes = text.replace(/'/g, "//");
function f(x) {
return /\/\*/.test(x);
}
const nested = `${`${`}//`}`}`;
"""


def test_what_only_looks_like_a_comment_stays() -> None:
    assert without_comments(HARD) == STRIPPED
    assert without_comments(STRIPPED) == STRIPPED
    before, after = parsed(HARD, STRIPPED)
    assert after["tokens"] == before["tokens"]


@pytest.mark.parametrize(
    "source",
    [
        "// a comment\nconst open = `never closed ${1\n",
        "// a comment\nconst open = 'never closed\n",
        "// a comment\nif (x) /a\\//.test(x); // only a parser knows\n",
        "// a comment\nconst hole = `${{}`\n",
    ],
)
def test_a_module_that_is_not_understood_stays_as_it_is(source: str) -> None:
    assert without_comments(source) == source
    assert without_comments("// a comment\nlet a;\n") == "let a;\n"

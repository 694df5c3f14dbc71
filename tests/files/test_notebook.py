"""The text of notebooks: cells in their order, and what they have written, without pictures as characters."""

import json
import random
import time
from typing import Any

import pytest

from chat.files.confined.documents import cleaned
from chat.files.confined.notebook import notebook_text

BASE64 = "iVBORw0KGgo" * 20


def notebook(*cells: dict[str, Any], **more: Any) -> str:
    return json.dumps(
        {"nbformat": 4, "metadata": {"language_info": {"name": "python"}}, "cells": cells, **more}
    )


def code(source: Any = "x", *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": outputs}


def data(**forms: Any) -> dict[str, Any]:
    """An output with these forms; two underscores stand for a slash."""
    return {
        "output_type": "display_data",
        "data": {name.replace("__", "/"): each for name, each in forms.items()},
    }


def output(*outputs: dict[str, Any]) -> str:
    """The text behind the code of a cell."""
    text = cleaned(notebook_text(notebook(code("x", *outputs))) or "")
    return text.removeprefix("```python\nx\n```").strip()


def test_cells_in_their_order() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Rain\n", "Means."]},
        code(["a = 1\n", "a\n"]),
        {"cell_type": "raw", "source": "raw"},
        code("  \n"),
        {
            "cell_type": "markdown",
            "source": "![x](attachment:a.png)",
            "attachments": {"a.png": {}, "b.png": {}},
        },
    ]
    assert notebook_text(notebook(*cells)) == (
        "# Rain\nMeans.\n\n```python\na = 1\na\n```\n\nraw\n\n![x](attachment:a.png)\n\n[Attachment: b.png]"
    )


TABLE = "<style>p{}</style><table><tr><th>a<th>b<tr><td>1<td>2</table>"


@pytest.mark.parametrize(
    ("outputs", "wanted"),
    [
        ([{"output_type": "stream", "text": ["one\n", "two\n"]}], "Output:\n```\none\ntwo\n```"),
        ([{"output_type": "stream", "text": " 1%\r 50%\r100%\nend\r\n"}], "Output:\n```\n100%\nend\n```"),
        ([{"output_type": "stream", "text": "\x1b[31mred\x1b[0m"}], "Output:\n```\nred\n```"),
        (
            [{"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\x1b[0;31mE\x1b[0m: v"]}],
            "Output:\n```\nE: v\n```",
        ),
        ([{"output_type": "error", "ename": "E", "evalue": "v", "traceback": []}], "Output:\n```\nE: v\n```"),
        ([data(text__plain="55")], "Output:\n```\n55\n```"),
        (
            [data(text__plain=["   a  b\n", "0  1  2"], text__html=TABLE)],
            "| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        (
            [data(text__plain="<Chart>", text__html="<div><script>x()</script></div>")],
            "Output:\n```\n<Chart>\n```",
        ),
        ([data(text__html="<b>bold</b>")], "bold"),
        ([data(text__plain="x**2", text__latex="$x^2$")], "$x^2$"),
        ([data(text__plain="o", text__markdown="**b**")], "**b**"),
        ([data(text__plain="<Figure size 9x9>", image__png=BASE64)], "[Picture: Figure size 9x9, image/png]"),
        ([data(**{"image/svg+xml": "<svg>"})], "[Picture: image/svg+xml]"),
        (
            [data(**{"application/vnd.plotly.v1+json": {"data": []}})],
            "[Output: application/vnd.plotly.v1+json]",
        ),
        ([data(text__html=f"<img alt=Map src='data:image/png;base64,{BASE64}'>")], "[Picture: Map]"),
        ([{"output_type": "stream", "text": "```"}], "Output:\n````\n```\n````"),
        (
            [{}, {"output_type": 5}, {"output_type": "stream"}, {"output_type": "display_data", "data": []}],
            "",
        ),
        ([data(text__html="<h3>93 %</h3>", text__plain="<IPython.core.display.HTML object>")], "### 93 %"),
        ([data(text__html="<p>512 rows", text__plain="<__main__.Report at 0x7f00>")], "512 rows"),
        ([data(text__html="<p>a diagram", text__plain="Forest()")], "Output:\n```\nForest()\n```"),
        (
            [data(application__json={"loss": 0.08}, text__plain="<IPython.core.display.JSON object>")],
            'Output:\n```\n{"loss": 0.08}\n```',
        ),
    ],
)
def test_outputs(outputs: list[dict[str, Any]], wanted: str) -> None:
    assert output(*outputs) == wanted


def test_a_picture_inside_a_text_is_no_text() -> None:
    text = notebook_text(
        notebook({"cell_type": "markdown", "source": f"![x](data:image/png;base64,{BASE64})"})
    )
    assert text == "![x](image/png)"


def test_version_3() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Head"},
        {
            "cell_type": "code",
            "language": "julia",
            "input": ["f(x)"],
            "outputs": [
                {"output_type": "pyout", "text": ["5"], "png": BASE64},
                {"output_type": "pyout", "text": "6"},
                {"output_type": "pyerr", "traceback": ["E"]},
                {"output_type": "stream", "stream": "stdout", "text": "out"},
            ],
        },
    ]
    text = notebook_text(json.dumps({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]}))
    assert text == (
        "## Head\n\n```julia\nf(x)\n```\n\n[Picture: 5, image/png]\n\n"
        "Output:\n```\n6\n```\n\nOutput:\n```\nE\n```\n\nOutput:\n```\nout\n```"
    )


@pytest.mark.parametrize("text", ["", "{}", "[]", "5", '{"cells"', '{"worksheets": 5}', "[" * 100_000])
def test_other_texts_are_no_notebooks(text: str) -> None:
    assert notebook_text(text) is None


@pytest.mark.parametrize("seed", range(30))
def test_notebooks_of_other_shapes_are_read(seed: int) -> None:
    chance = random.Random(seed)
    strange = ["5", "null", "[]", '"x"', "[5]", '{"a": 5}', "true"]
    text = notebook(
        code(["a"], data(text__plain="x", image__png="y")), {"cell_type": "markdown", "source": "z"}
    )
    for value in chance.sample(['"python"', '["a"]', '"x"', '"z"', '"code"', "[]", '"display_data"'], 3):
        text = text.replace(value, chance.choice(strange))
    assert isinstance(notebook_text(text), str)


@pytest.mark.parametrize("text", ["x" * 200_000, "\r" * 200_000, "x\b" * 100_000])
def test_a_long_line_of_output_takes_linear_time(text: str) -> None:
    written = notebook(code("x", {"output_type": "stream", "text": text}))
    began = time.thread_time()
    notebook_text(written)
    assert time.thread_time() - began < 1

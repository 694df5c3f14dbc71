"""The HTML that is honoured: tags that format words, parts that unfold; and the alerts of GitHub."""

import re

import pytest

from chat.rendering.markdown import render

from .page import faults, flushed, streamed


def shown(text: str) -> str:
    """The HTML of a text without directions, however it arrives."""
    html = render(text, "m")
    assert streamed(text, list(range(len(text) + 1))) == html
    assert faults(html) == []
    return re.sub(r' (?:dir|rel|target)="[^"]*"|=""', "", "".join(html))


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("<b>a</b> <u>b</u> <mark>c</mark>", "<p><b>a</b> <u>b</u> <mark>c</mark></p>"),
        (
            "<I>a</I> <s>b</s> <small>c</small> d<ins>e</ins>",
            "<p><i>a</i> <s>b</s> <small>c</small> d<ins>e</ins></p>",
        ),
        (
            "<q>a</q> <code>b</code> <strong>*c*</strong>",
            "<p><q>a</q> <code>b</code> <strong><em>c</em></strong></p>",
        ),
        ('<mark style="color:red" onclick=x>a</mark>', "<p><mark>a</mark></p>"),
        ('<abbr class=a title="a &amp; b">c</abbr>', '<p><abbr title="a &amp; b">c</abbr></p>'),
        ("<b>\n**a**\n</b>", "<p><b><br>\n<strong>a</strong><br>\n</b></p>"),
        ("a\n\n<br>\n\nb", "<p>a</p><p><br></p><p>b</p>"),
        ("- <b>a", "<ul><li><b>a</b></li></ul>"),
        ("List<S> and Map<b, i> x<sub>1</sub>", "<p>List&lt;S&gt; and Map&lt;b, i&gt; x<sub>1</sub></p>"),
        ("<span>a</span> <a href=x>b</a> <img src=x> </b>", None),
        ("<div>\n<details>\na\n</div>", None),
        ("<!-- <details> -->", None),
        ("<summary>a</summary>\n</details>", None),
        ("a <details> b </summary> c", None),
        ("`<b>` and\n```html\n<details>\n<summary>a</summary>\nb\n</details>\n```", None),
    ],
)
def test_tags_that_format_words_are_honoured_and_no_others(text, html):
    if html:
        assert shown(text) == html
    else:
        assert not re.search("<(?:a|img|div|b|details|summary)[> ]", shown(text))


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (
            "<details><summary>Show the hint</summary>\n\nThink of **primes**.\n\n</details>",
            "<details><summary>Show the hint</summary><p>Think of <strong>primes</strong>.</p></details>",
        ),
        (
            "<details>\n<summary>*a* <b>b</b> `c`</summary>\n- d\n- e\n</details>\nf",
            "<details><summary><em>a</em> <b>b</b> <code>c</code></summary><ul><li>d</li><li>e</li></ul>"
            "</details><p>f</p>",
        ),
        (
            "<details open class=x>\n<summary>\na\n</summary>\nb</details>",
            "<details><summary><p>a</p></summary><p>b</p></details>",
        ),
        (
            "<details><summary>a</summary>b\n<details><summary>c</summary>d</details>\n</details>",
            "<details><summary>a</summary><p>b</p><details><summary>c</summary><p>d</p></details></details>",
        ),
        ("<details>a</details>b", "<div><details><p>a</p></details><p>b</p></div>"),
        (
            "- <details>\n  a\n  </details>\n- b",
            "<ul><li><details><p>a</p></details></li><li><p>b</p></li></ul>",
        ),
        ("- <details>\n\n  a\n\nb", "<ul><li><details><p>a</p></details></li></ul><p>b</p>"),
        ("<details>\n\na", "<details open><p>a</p></details>"),
        ("<details>\n$$\nx\n$$\n~b ~c\n</details>\n", None),
        ("<details>\n```\na\n\nb\n```\n</details>\n\n# c", None),
    ],
)
def test_a_part_unfolds(text, html):
    if html:
        assert shown(text) == html
    else:
        assert re.search("<details>.*</details>", shown(text), re.DOTALL)
        assert "open" not in shown(text)


@pytest.mark.parametrize("kind", ["Note", "Tip", "Important", "Warning", "Caution"])
@pytest.mark.parametrize("between", ["\n> ", "\n>\n> ", " "])
def test_an_alert_is_a_quotation_under_its_name(kind, between):
    words = f'<p class="alert">{kind}</p><p>See <em>this</em>.</p>'
    html = f'<blockquote class="{kind.lower()}">{words}</blockquote>'

    assert shown(f"> [!{kind.upper()}]{between}See *this*.") == html
    assert html in shown(f"- > [!{kind.lower()}]{between.replace('>', '  >')}See *this*.")


@pytest.mark.parametrize(
    "text", ["> [!OTHER]\n> a", "> a [!NOTE]\n> b", "[!NOTE] a", "> [!NOTE](http://x.org) a"]
)
def test_other_quotations_stay(text):
    assert "alert" not in shown(text)


@pytest.mark.parametrize(
    "text",
    [
        "> [!NOTE]\n> See *this* and **that**.",
        "a <mark>b</mark> <u>c</u> d",
        "<details>\n<summary>a</summary>\nb\n</details>\n\nc",
        "| a | b |\n|---|---|\n| <b>c</b> | d |\n",
    ],
)
def test_no_tag_or_marker_is_seen_while_it_arrives(text):
    for end in range(len(text) + 1):
        _, page = flushed(text, [*range(0, end, 3), end])
        assert not re.search(r"&lt;|\[!|\*", "".join(page)), text[:end]

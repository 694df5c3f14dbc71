"""Emphasis beside Chinese, Japanese and Korean and directly before a word, and tildes that strike nothing."""

import re

import pytest

from chat.rendering.markdown import render

from .page import streamed


def shown(text: str) -> str:
    """The HTML of a paragraph with marks for its emphasis, however it arrives."""
    html = render(text, "m")
    assert streamed(text, list(range(len(text) + 1))) == html
    marked = re.sub("<(?:strong|em|del)>", "{", re.sub("</(?:strong|em|del)>", "}", html[0]))
    return re.sub("<.*?>", "", marked)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("这是**“重点”**内容，**注意：**请看。", "这是{“重点”}内容，{注意：}请看。"),
        ("これは**「重要なこと」**です。", "これは{「重要なこと」}です。"),
        ("문서는 **마크다운(Markdown)**을 쓴다", "문서는 {마크다운(Markdown)}을 쓴다"),
        ("**`pip`**를, **[문서](https://x.org)**를", "{pip}를, {문서}를"),
        ("*《书》*是，~~（旧）~~新", "{《书》}是，{（旧）}新"),
        ("价格**50%**的**$5**元", "价格{50%}的{$5}元"),
        ("这**“x”**那**“y”**z", "这{“x”}那{“y”}z"),
        ("葛\U000e0100**(x)**城", "葛\U000e0100{(x)}城"),
        ("ﾊﾝ**（カク）**ｶﾅ", "ﾊﾝ{（カク）}ｶﾅ"),
        ("**（一）**甲\n**（二）**乙", "{（一）}甲\n{（二）}乙"),
        ("**“Well,”**he said; choose **(b)**now.", "{“Well,”}he said; choose {(b)}now."),
        ("**note:**text and **`Foo`**s, ~~old:~~new", "{note:}text and {Foo}s, {old:}new"),
        ("*“Well,”*he; **50%**off", "{“Well,”}he; {50%}off"),
        ("**Größe:**ja, **été !**oui", "{Größe:}ja, {été !}oui"),
        ("***so:***then", "{{so:}}then"),
        ("3.14**159**26 and *2*", "3.14{159}26 and {2}"),
    ],
)
def test_emphasis_that_is_meant_is_seen(text, expected):
    assert shown(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "x *(y+z)*w",
        "2**(n-1) and 3**(n)",
        "2*3*4 = 24, 1024*768*3 and `5*6*7`",
        "2**3 = 8, 2**4 = 16 and 2**5 = 32",
        "**(**foo)",
        "snake__(x)__y",
        "`这**“重点”**内`",
        "Set PATH=~/bin:~/tools:~/more",
        "about (~5 €)~(~10 €), or ~$20-~$30",
        "H~2~O and ~x~ and `~y~`",
        "~ ~a~b~c~ \\~d~",
        "http://x.org/~ann/~bob",
    ],
)
def test_other_marks_stay_as_typed(text):
    assert shown(text) == text.replace("`", "").replace("\\", "")


def test_two_tildes_strike_beside_single_ones():
    assert shown("~5 ~~old~~ ~6") == "~5 {old} ~6"


def test_tildes_in_addresses_stay():
    [html] = render("[~a](http://x.org/~u) [b]\n\n[b]: http://y.org/~v '~t~'")

    assert 'href="http://x.org/~u"' in html
    assert 'href="http://y.org/~v" title="~t~"' in html


def test_a_text_cannot_pretend_to_be_a_stand_in():
    assert "\U0010fffd" not in render("a\U0010fffdb \U0010fffc \U0010fffb **“x”**内")[0]

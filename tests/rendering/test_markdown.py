"""The HTML of Markdown."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings

from chat.rendering.markdown import render

from .documents import documents


def test_each_top_level_block_is_one_entry():
    assert render("one\n\n- two\n- three\n\n---\n") == [
        '<p dir="auto">one</p>',
        '<ul dir="ltr"><li>two</li><li>three</li></ul>',
        "<hr>",
    ]


def test_nothing_gives_nothing():
    assert render("") == []
    assert render(" \n\n") == []
    assert render("[a]: http://x.org") == []


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("Roses are red,\nviolets are blue.", '<p dir="auto">Roses are red,<br>\nviolets are blue.</p>'),
        (
            "*12 Hill Road*\n**Oxford**",
            '<p dir="auto"><em>12 Hill Road</em><br>\n<strong>Oxford</strong></p>',
        ),
        ("• one\n• two", '<p dir="auto">• one<br>\n• two</p>'),
        ("- a\n  b", '<ul dir="ltr"><li>a<br>\nb</li></ul>'),
        ("- a\nlazy", '<ul dir="ltr"><li>a<br>\nlazy</li></ul>'),
        ("> a\n> b", '<blockquote dir="auto"><p>a<br>\nb</p></blockquote>'),
        ("a\r\nb\rc", '<p dir="auto">a<br>\nb<br>\nc</p>'),
        ("a  \nb\\\nc", '<p dir="auto">a<br>\nb<br>\nc</p>'),
        ("a<br>\nb", '<p dir="auto">a<br>\nb</p>'),
        ("`a\nb`", '<p dir="auto"><code dir="ltr">a b</code></p>'),
        ("a\nb\n===", '<h3 dir="auto">a<br>\nb</h3>'),
    ],
)
def test_a_single_line_break_shows_as_one(text, html):
    assert render(text) == [html]


def test_the_lines_of_code_and_of_html_stay_as_they_are():
    assert "<br>" not in "".join(render("```\na\nb\n```\n\n    c\n    d\n\n<div>\ne\nf\n"))


def headings(text):
    return [int(level) for level in re.findall(r"<h(\d)", "".join(render(text)))]


@pytest.mark.parametrize("level", range(1, 7))
def test_first_heading_ranks_below_that_of_its_message(level):
    assert render("#" * level + " Head") == ['<h3 dir="auto">Head</h3>']


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ([1, 2, 3, 4, 5, 6], [3, 4, 5, 6, 6, 6]),
        ([2, 3, 3, 2], [3, 4, 4, 3]),
        ([1, 4, 4, 2, 3], [3, 4, 4, 4, 5]),
        ([3, 2, 1, 2], [3, 3, 3, 4]),
        ([1, 3, 2, 3], [3, 4, 4, 5]),
    ],
)
def test_headings_keep_their_depth_and_skip_no_level(written, shown):
    assert headings("\n\n".join("#" * level + " Head" for level in written)) == shown


def test_headings_in_quotes_and_lists_count_as_they_come():
    assert headings("## One\n\n> ### Two\n\n- #### Three\n\n## Four") == [3, 4, 5, 3]


@settings(max_examples=200, deadline=None)
@given(documents)
def test_no_text_skips_a_level(text):
    levels = [2, *headings(text)]
    assert all(low <= high + 1 for high, low in pairwise(levels))


def test_emphasis_strikethrough_and_code():
    assert render("*a* **b** ~~c~~ `d < e`") == [
        '<p dir="auto"><em>a</em> <strong>b</strong> <del>c</del> <code dir="ltr">d &lt; e</code></p>'
    ]


def test_an_ordered_list_begins_where_it_says():
    assert render("3. c\n4. d") == ['<ol start="3" dir="ltr"><li>c</li><li>d</li></ol>']


def test_tasks_are_boxes_that_cannot_be_ticked():
    assert render("- [x] done\n- [ ] to do") == [
        '<ul dir="ltr"><li class="task"><span class="checkbox">☑</span> done</li>'
        '<li class="task"><span class="checkbox">☐</span> to do</li></ul>'
    ]
    assert '<li class="task"><p><span class="checkbox">☐</span> a</p>' in render("- [ ] a\n\n- b")[0]


def test_a_table_can_scroll_and_aligns_without_styles():
    assert render("| a | b | c | d |\n|:--|:-:|--:|---|\n| 1 | 2<br>3 | `x\\|y` |") == [
        '<div class="table" tabindex="0" dir="ltr"><table>'
        '<thead><tr><th class="left">a</th><th class="center">b</th><th class="right">c</th>'
        "<th>d</th></tr></thead>"
        '<tbody><tr><td class="left">1</td><td class="center">2<br>3</td>'
        '<td class="right"><code dir="ltr">x|y</code></td></tr></tbody></table></div>'
    ]


def test_footnotes_stay_in_place_and_in_their_message():
    reference, note = render("Said[^a].\n\n[^a]: By *whom*.", "m1")

    assert (
        '<sup class="footnote"><a href="#fn-m1-a" rel="noopener noreferrer nofollow">a</a></sup>' in reference
    )
    assert note == (
        '<div class="footnote" id="fn-m1-a" dir="ltr"><span class="label">a</span>'
        "<div><p>By <em>whom</em>.</p></div></div>"
    )


def test_the_label_of_a_footnote_cannot_leave_its_message():
    blocks = render('x[^"ü/#]\n\n[^"ü/#]: y', "m 1")

    assert 'href="#fn-m%201-%22%C3%BC%2F%23"' in blocks[0]
    assert 'id="fn-m%201-%22%C3%BC%2F%23"' in blocks[1]


def test_text_that_is_no_footnote_stays():
    assert render("[^a-z] is a class") == ['<p dir="auto">[^a-z] is a class</p>']


def test_html_is_shown_as_text():
    assert render("<div onclick=x>\n*a*\n</div>") == [
        '<p class="html" dir="auto">&lt;div onclick=x&gt;\n*a*\n&lt;/div&gt;</p>'
    ]
    assert render("a <x>c</x> <!-- d -->") == ['<p dir="auto">a &lt;x&gt;c&lt;/x&gt; &lt;!-- d --&gt;</p>']


def test_a_few_exact_tags_are_taken_as_what_they_say():
    assert render("H<sub>2</sub>O<br/>x<SUP>2</SUP> <kbd>Ctrl</kbd>") == [
        '<p dir="auto">H<sub>2</sub>O<br>x<sup>2</sup> <kbd>Ctrl</kbd></p>'
    ]


def test_unclosed_tag_ends_with_its_parent_and_unopened_is_text():
    assert render("*a<sub>b* c</sub>") == ['<p dir="auto"><em>a<sub>b</sub></em> c&lt;/sub&gt;</p>']
    assert render("*a<sub>b* *c</sub>*") == [
        '<p dir="auto"><em>a<sub>b</sub></em> <em>c&lt;/sub&gt;</em></p>'
    ]
    assert render("<sub>a<sup>b</sub>") == ['<p dir="auto"><sub>a<sup>b&lt;/sub&gt;</sup></sub></p>']


def test_an_image_is_a_link_with_its_host():
    link = '<a href="https://x.org/i.png" class="image" target="_blank" rel="noopener noreferrer nofollow">'

    assert render("![A *cat*](https://x.org/i.png)") == [
        f'<p dir="auto">{link}A cat <span class="host">(x.org)</span></a></p>'
    ]
    assert render("![](https://x.org/i.png)") == [
        f'<p dir="auto">{link}<span class="host">(x.org)</span></a></p>'
    ]


def test_an_image_that_leads_nowhere_is_its_words():
    assert render("![a cat](data:image/png;base64,AAAA)") == ['<p dir="auto">a cat</p>']
    assert render("![](/i.png)") == ['<p dir="auto">🖼</p>']


def test_an_image_in_a_link_is_the_text_of_the_link():
    [html] = render("[![badge](http://i.org/b.svg)](http://x.org)")
    assert html.count("<a ") == 1
    assert ">badge</a>" in html


def test_all_markers_of_a_list_stand_where_its_first_letter_says():
    assert render("- \u05d0\n- b") == ['<ul dir="rtl"><li>\u05d0</li><li>b</li></ul>']
    assert '<th dir="auto">' in render("| \u05d0 |\n|---|\n| b |")[0]
    assert render("- é\n- b") == ['<ul dir="ltr"><li>é</li><li>b</li></ul>']


def test_code_runs_from_left_to_right():
    assert 'dir="ltr"><code>' in render("```\n\u05d0\n```")[0]
    assert '<code dir="ltr">' in render("`\u05d0`")[0]


def test_indented_code_is_a_figure_without_a_name():
    assert render("    x < 1\n") == [
        '<figure class="code"><figcaption></figcaption>'
        '<pre tabindex="0" dir="ltr"><code>x &lt; 1\n</code></pre></figure>'
    ]

"""Links: the addresses that are followed, and those that are found in plain text."""

import pytest

from chat.rendering import links
from chat.rendering.markdown import render

from .page import streamed


def test_web_and_mail_addresses_are_followed():
    for followed in ("http://x.org", "HTTPS://x.org/a?b#c", "mailto:a@b.org", "https://日本.jp/"):
        assert links.address(followed) == followed


@pytest.mark.parametrize(
    "refused",
    [
        "",
        "x",
        "/x",
        "//x.org",
        "#x",
        "?x",
        "http:x",
        "http:///x",
        "http:\\\\x.org",
        "javascript:x",
        "ftp://x.org",
    ],
)
def test_no_other_address_is(refused):
    assert links.address(refused) is None
    assert "<a" not in render(f"[a](<{refused}>)")[0]


def test_spaces_and_backslashes_in_urls_are_normalised():
    assert links.address("http://x.org/a b\\c\n") == "http://x.org/a%20b%5Cc%0A"


def test_an_address_of_thousands_of_characters_is_none():
    assert links.address("http://x.org/" + "a" * 1_900)
    assert links.address("http://x.org/" + "a" * 2_000) is None


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://x.org/a", "x.org"),
        ("https://X.org:8080?a@b", "x.org:8080"),
        ("https://bank.com@evil.com/", "evil.com"),
        ("https://bank.com%40evil.com\\@x.org", "bank.com%40evil.com"),
        ("mailto:a@b.org", "a@b.org"),
    ],
)
def test_the_host_is_that_which_a_browser_would_ask(address, host):
    assert links.host(address) == host


def test_a_link_that_claims_another_host_says_where_it_leads():
    for text in ("https://bank.com/login", "www.bank.com", "bank.com", "Bank.com "):
        assert '<span class="host">(evil.test)</span>' in render(f"[{text}](http://evil.test/x)")[0]
    assert "host" not in render("[x.org](http://docs.x.org/)")[0]
    for text in (
        "bank",
        "https://evil.test/y",
        "www.evil.test",
        "evil.test: the site",
        "see bank.com",
        "Node.js",
    ):
        assert "host" not in render(f"[{text}](http://evil.test/x)")[0]


# The examples of https://github.github.com/gfm/#autolinks-extension-, and a few more.
@pytest.mark.parametrize(
    ("text", "shown", "address"),
    [
        ("www.commonmark.org", "www.commonmark.org", "http://www.commonmark.org"),
        (
            "Visit www.commonmark.org/help for more.",
            "www.commonmark.org/help",
            "http://www.commonmark.org/help",
        ),
        ("Visit www.commonmark.org.", "www.commonmark.org", "http://www.commonmark.org"),
        ("Visit www.x.org/a.b.", "www.x.org/a.b", "http://www.x.org/a.b"),
        ("www.x.org/?q=M+(b)", "www.x.org/?q=M+(b)", "http://www.x.org/?q=M+(b)"),
        ("www.x.org/?q=M+(b)))", "www.x.org/?q=M+(b)", "http://www.x.org/?q=M+(b)"),
        ("(www.x.org/?q=M+(b))", "www.x.org/?q=M+(b)", "http://www.x.org/?q=M+(b)"),
        ("www.x.org/?q=(b))+ok", "www.x.org/?q=(b))+ok", "http://www.x.org/?q=(b))+ok"),
        ("www.x.org/?q=a&amp;b=c", "www.x.org/?q=a&amp;b=c", "http://www.x.org/?q=a&amp;b=c"),
        ("www.x.org/?q=a\\&hl;", "www.x.org/?q=a", "http://www.x.org/?q=a"),
        ("www.x.org/he<lp", "www.x.org/he", "http://www.x.org/he"),
        ("http://commonmark.org", "http://commonmark.org", "http://commonmark.org"),
        ("(see https://x.org/a_b_c/d)", "https://x.org/a_b_c/d", "https://x.org/a_b_c/d"),
        ("http://localhost:8000/x", "http://localhost:8000/x", "http://localhost:8000/x"),
        ("请看https://x.org/a。好", "https://x.org/a", "https://x.org/a"),
        ("foo@bar.baz", "foo@bar.baz", "mailto:foo@bar.baz"),
        ("hello+xyz@mail.example.", "hello+xyz@mail.example", "mailto:hello+xyz@mail.example"),
        ("a.b-c_d@a.b", "a.b-c_d@a.b", "mailto:a.b-c_d@a.b"),
        ("**https://x.org**", "https://x.org", "https://x.org"),
        ("**https://x.org**(note)", "https://x.org", "https://x.org"),
        ("[https://x.org/g]", "https://x.org/g", "https://x.org/g"),
        ("{https://x.org/h}", "https://x.org/h", "https://x.org/h"),
        ("http://[::1]:80/a", "http://[::1]:80/a", "http://[::1]:80/a"),
        ("HTTPS://Example.org/X", "HTTPS://Example.org/X", "HTTPS://Example.org/X"),
        ("WWW.EX.ORG", "WWW.EX.ORG", "http://WWW.EX.ORG"),
    ],
)
def test_bare_addresses_are_links(text, shown, address):
    [html] = render(text)
    assert f'href="{address}"' in html
    assert f">{shown}</a>" in html


@pytest.mark.parametrize(
    "path",
    ["3/__main__.html", "_next_/x.js", "a?q=*b*&amp;r=1", "~~old~~/a", "[a](b)", "*a*/**b**/c", "a__b__"],
)
def test_marks_in_a_bare_address_belong_to_it(path):
    text = f"See https://x.org/{path} for *more*."
    [html] = render(text, "m")
    shown = path if path != "a__b__" else "a__b"  # its end may be that of the sentence around it
    assert f'href="https://x.org/{shown}"' in html
    assert f">https://x.org/{shown}</a>" in html
    assert "<em>more</em>" in html
    assert streamed(text, list(range(len(text) + 1))) == [html]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("https://x.org/p[^1]\n\n[^1]: n", "https://x.org/p</a><sup"),
        ("https://x.org/p[1](https://y.org)", '<a href="https://y.org"'),
        ("[https://x.org/_a_](https://y.org)", '<a href="https://y.org"'),
        ("|https://x.org/_a|*b*|\n|---|---|", "<em>b</em>"),
        (r"[a](https://x.org/a\_b\_)", 'href="https://x.org/a_b_"'),
        ("`https://x.org/_a_/*b*`", ">https://x.org/_a_/*b*</code>"),
        ("```\nhttps://x.org/_a_/[b]\n```", "https://x.org/_a_/[b]"),
        ("<br>\nhttps://x.org/_a_/b", 'href="https://x.org/_a_/b"'),
    ],
)
def test_markup_beside_a_bare_address_stays_markup(text, html):
    assert html in render(text)[0]


@pytest.mark.parametrize(
    "text",
    [
        "a.b-c_d@a.b-",
        "a.b-c_d@a.b_",
        "hello@mail+xyz.example",
        "www.",
        "http://",
        "https:// x",
        "www.x",
        "xhttp://x.org",
        "@x",
        "a@b",
    ],
)
def test_lookalikes_of_addresses_are_text(text):
    assert "<a" not in render(text)[0]


@pytest.mark.parametrize("text", ["www.x.org", "<http://y.org>", "a <m@y.org> b", "*<http://y.org/a>*"])
def test_a_link_in_a_link_is_text(text):
    [html] = render(f"[{text}](http://x.org)")
    assert html.count("<a ") == html.count("</a>") == html.count('href="http://x.org"') == 1


def test_no_address_is_looked_for_in_code():
    assert "<a" not in render("`www.x.org`")[0]
    assert "<a" not in render("    www.x.org")[0]

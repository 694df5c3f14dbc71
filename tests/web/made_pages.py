# ruff: noqa: E501 - pages
"""Made pages of the web: each with its content and what stands beside it, by the sentences of both."""

from dataclasses import dataclass

NAV = (
    "<nav class='site-nav'><ul><li><a href='/'>Home page</a></li><li><a href='/n'>All news</a></li>"
    "<li><a href='/c'>Our contacts</a></li><li><a href='/l'>Log in here</a></li></ul></nav>"
)
COOKIES = (
    "<div id='cookie-banner' role='dialog'><p>We value your privacy and use cookies to improve what you see."
    "</p><button>Accept all</button><button>Only the necessary ones</button></div>"
)
FOOTER = (
    "<footer><p>© 2026 Harbour Media. All rights reserved.</p><a href='/imprint'>Imprint</a> "
    "<a href='/privacy'>Privacy policy</a></footer>"
)
BESIDE = ("All news", "Our contacts", "use cookies", "Only the necessary", "All rights reserved", "Imprint")


@dataclass(frozen=True, slots=True)
class Made:
    html: str
    content: tuple[str, ...]
    beside: tuple[str, ...] = BESIDE


def framed(body: str, head: str = "") -> str:
    return f"<!doctype html><html><head><meta charset=utf-8>{head}</head><body>{COOKIES}{NAV}{body}{FOOTER}</body></html>"


RELATED = (
    "<aside class='related'><h2>More for you</h2><ul><li><a href='/1'>Ten harbours that you must see</a></li>"
    "<li><a href='/2'>Why gulls steal chips</a></li></ul></aside>"
)
PAGES = {
    "article": Made(
        framed(
            "<main><article><h1>Harbour opens again</h1><p class=byline>By Ann Writer, 2 October 2026</p>"
            "<p>The harbour opened on Thursday after two years of work on its eastern pier.</p>"
            "<p>Ships of up to <b>300 metres</b> can call again, the <a href='/port'>port office</a> said.</p>"
            "<blockquote>We have waited long for this day.</blockquote><h2>What it cost</h2>"
            "<p>The work cost 41 million euros, nine more than planned.</p></article>" + RELATED + "</main>",
            "<title>Harbour opens again | Harbour News</title>",
        ),
        ("Harbour opens again", "two years of work", "300 metres", "port office", "waited long", "What it cost",
         "41 million euros"),
        (*BESIDE, "Ten harbours", "Why gulls"),
    ),
    "old layout": Made(
        "<html><body><div id=header><a href=/>Home page</a> | <a href=/n>All news</a> | <a href=/c>Our contacts</a>"
        " | <a href=/x>Our archive</a></div><table><tr><td class=sidebar><a href=1>Alpha list</a><br><a href=2>Beta list"
        "</a><br><a href=3>Gamma list</a><br><a href=4>Delta list</a></td><td><h1>Tide tables explained</h1><p>A tide "
        "is the rise and fall of the sea, caused by the moon and by the sun together. It comes twice a day in most "
        "places.</p><p>Spring tides come at new moon and at full moon, when both pull in one line.</p></td></tr>"
        "</table><div id=footer>All rights reserved by Tides Ltd.</div></body></html>",
        ("Tide tables explained", "rise and fall", "Spring tides", "pull in one line"),
        ("All news", "Our archive", "Beta list", "Delta list", "All rights reserved"),
    ),
    "documentation": Made(
        framed(
            "<div class='docs-sidebar'><ul><li><a href='/a'>Get started</a></li><li><a href='/b'>Set it up</a></li>"
            "<li><a href='/d'>Deploy it</a></li><li><a href='/e'>Upgrade it</a></li></ul></div>"
            "<div class='content'><h1>Web Search API</h1><p>Send a request with your token:</p>"
            "<pre><code class='language-bash'>curl https://api.example/search \\\n  --data '{\"limit\": 5}'</code></pre>"
            "<h2>Parameters</h2><table><thead><tr><th>Name</th><th>Meaning</th></tr></thead><tbody><tr><td>query</td>"
            "<td>The words, 1,024 at most</td></tr><tr><td>limit</td><td>How many results</td></tr></tbody></table>"
            "<ol><li>Create a token.</li><li>Write it into the settings.</li></ol></div>",
            "<title>Web Search API</title>",
        ),
        ("Web Search API", "Send a request", "```", '  --data \'{"limit": 5}\'', "| query | The words", "| limit |",
         "1. Create a token", "2. Write it"),
        (*BESIDE, "Get started", "Upgrade it"),
    ),
    "list of links": Made(
        framed(
            "<main><h1>Front page</h1><ul>"
            + "".join(f"<li><a href='/s{n}'>Story number {n}: what the council decided on Monday evening</a></li>"
                      for n in range(12))
            + "</ul></main>",
            "<title>Front page</title>",
        ),
        ("Story number 0: what", "Story number 11: what"),
    ),
    "Japanese": Made(
        framed(
            "<main><h1>港が再開</h1><p>東側の桟橋の工事が二年ぶりに終わり、木曜日に港が再開した。</p>"
            "<p>全長三百メートルまでの船が再び寄港できると港湾局は述べた。</p></main>", "<title>港が再開</title>",
        ),
        ("港が再開", "二年ぶりに終わり", "港湾局は述べた"),
    ),
    "Arabic": Made(
        framed(
            "<article dir=rtl><h1>إعادة فتح الميناء</h1><p>أعيد فتح الميناء يوم الخميس بعد عامين من العمل في الرصيف.</p>"
            "<ul><li>سفن كبيرة</li><li>قوارب صغيرة</li></ul></article>", "<title>الميناء</title>",
        ),
        ("إعادة فتح الميناء", "عامين من العمل", "- سفن كبيرة", "- قوارب صغيرة"),
    ),
    "forum": Made(
        framed(
            "<div id=thread><h1>How do I tie a bowline?</h1><div class=post><p>Mine always slips. What is wrong?</p></div>"
            "<div class=post><p>Make a loop first, then bring the end up through it and around the back.</p></div>"
            "<div class=post><p>Or use a double one, it holds better in wet rope.</p></div></div>",
            "<title>How do I tie a bowline? - Knots</title>",
        ),
        ("How do I tie a bowline", "always slips", "Make a loop first", "double one"),
    ),
    "short": Made(
        framed("<h1>Opening hours</h1><p>Monday to Friday, 9 to 17.</p>", "<title>Hours</title>"),
        ("Opening hours", "Monday to Friday, 9 to 17"),
    ),
    "prices": Made(
        framed(
            "<section><h1>Berths and prices</h1><table><tr><th>Length</th><th>A night</th></tr><tr><td>8 m</td><td>€18</td>"
            "</tr><tr><td>12 m</td><td>€29</td></tr></table><dl><dt>Power</dt><dd>€4 a day</dd></dl><p>Pay at the "
            "office before noon.</p></section>", "<title>Prices</title>",
        ),
        ("Berths and prices", "| 8 m | €18 |", "| 12 m | €29 |", "Power", "€4 a day", "before noon"),
    ),
    "all marked as menu": Made(
        "<body class='nav-open'><div class='menu'><h1>Menu of the day</h1><p>Soup of lentils, bread and an apple for "
        "eight euros, and tea for all who come before noon.</p></div></body>",
        ("Menu of the day", "Soup of lentils"), (),
    ),
}  # fmt: skip

"""The few places where text becomes HTML: a list that only a change of this file makes longer."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PYTHON = re.compile(r"\bmark_safe\b|\bSafeString\(|\bSafeText\b|\bhtml_safe\b|__html__")
TEMPLATE = re.compile(
    r"\|\s*safe\b|\|\s*safeseq\b|\{%\s*autoescape\s+off|\{%\s*debug\b|\|\s*urlize|\son\w+=[\"']|<script(?![^>]*\bsrc=)|\sstyle=|<style|javascript:"
)
SCRIPT = re.compile(
    r"innerHTML|outerHTML\s*=|insertAdjacentHTML|document\.write|\beval\(|new Function|setHTML|srcdoc|"
    r"createContextualFragment|DOMParser|parseFromString|createPolicy|setTimeout\(\s*['\"`]|postMessage|javascript:"
)
ALLOWED = {
    "chat/templatetags/rendered.py": ["mark_safe", "mark_safe"],  # imported, and called
    "templates/admin/chat/setup_check/page.html": ["|safe"],  # a constant that the results replace
    # To the site's own tabs; what comes is only compared with a key, or says that the list is to be fetched.
    "static/js/tabs.js": ["postMessage"],
    "static/js/page.js": ["createPolicy", "innerHTML"],
}


def found(pattern: re.Pattern[str], *globs: str) -> dict[str, list[str]]:
    """Return {path: matches of the pattern in it}."""
    paths = [path for glob in globs for path in sorted(ROOT.glob(glob))]
    assert len(paths) > 3
    hits = {str(path.relative_to(ROOT)): pattern.findall(path.read_text("utf-8")) for path in paths}
    return {path: matches for path, matches in hits.items() if matches}


def test_html_is_made_in_one_place_of_server_and_page() -> None:
    places = found(PYTHON, "chat/**/*.py", "chatsite/**/*.py")
    places |= found(TEMPLATE, "templates/**/*.html")
    places |= found(SCRIPT, "static/js/*.js")
    assert places == ALLOWED
    script = (ROOT / "static/js/page.js").read_text("utf-8")
    body = script[script.index("export function parseTrustedHtml") :]
    assert "innerHTML" in body[: body.index("\n}\n")]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (PYTHON, "return mark_safe(text)"),
        (TEMPLATE, "{{ text|safe }}"),
        (TEMPLATE, "{{ text | safe }}"),
        (TEMPLATE, "{% autoescape off %}"),
        (TEMPLATE, "<script>alert(1)</script>"),
        (TEMPLATE, '<p style="color: red">'),
        (TEMPLATE, '<a onclick="x">'),
        (SCRIPT, "node.innerHTML = text"),
        (SCRIPT, "node.outerHTML = text"),
        (SCRIPT, "node.insertAdjacentHTML('beforeend', text)"),
        (SCRIPT, "document.write(text)"),
        (SCRIPT, "eval(text)"),
        (SCRIPT, "setTimeout('run()')"),
    ],
)
def test_the_search_finds_what_it_is_for(pattern: re.Pattern[str], text: str) -> None:
    assert pattern.search(text)


def test_a_displayed_script_is_no_finding() -> None:
    assert not TEMPLATE.search('<script type="module" src="x.js"></script>')
    assert not TEMPLATE.search("{{ title|safe_name }}")
    assert not SCRIPT.search("setTimeout(() => this.run(), 10)")

"""An equation in Markdown, as it was typed, and its conversion from TeX to MathML, within limits.

The MathML is not yet sanitised.
"""

import re
from functools import cache, lru_cache
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from .characters import neutralise_code
from .chemistry import without_chemistry

if TYPE_CHECKING:
    from math_core import LatexToMathML


EQUATION_COST = 50  # of each equation, in characters, in addition to its length

_QUOTE_MARKER = re.compile(r"(?<=\n)(?:[ \t]{0,3}>[ \t]?)+")
MAX_MATHML_DEPTH = 40  # levels of nesting in the MathML, in addition to those of the Markdown around it
# The converter is recursive: a few thousand levels would overflow its stack. A command without braces, as in
# “\\sqrt\\sqrt x”, is a level, too.
MAX_OPEN = 100
MAX_MATHML_CHARS = 50_000  # of MathML
MAX_LENGTH = 3.0  # in any unit, of a line or a shift, which could cover or leave what is around the equation
CACHED_EQUATIONS = 64  # equations; the open block of a stream is rendered again with each flush

_LEVEL = re.compile(
    r"\\(?:begin|left)(?![A-Za-z])|\{|(\\(?:end|right)(?![A-Za-z])|\})|\\[A-Za-z]+|[\^_]|(\S)"
)
_DEFINES = re.compile(r"\\(?:\w*newcommand|\w*def|let|\w*newenvironment|DeclareMathOperator)(?![A-Za-z])")

# Spellings that the converter does not know, or takes for something else.
_STARRED = re.compile(r"\\(begin|end)\{(align|equation|gather|multline)\}")  # without numbers
_RENAMED = {
    "split": "aligned",
    "smallmatrix": "matrix",
    "eqnarray": "eqnarray*",
    "alignat": "align*",
    "alignat*": "align*",
}
_ENVIRONMENT = re.compile(r"\\(begin|end)\{(split|smallmatrix|eqnarray\*?|alignat\*?)\}(?:\{\d+\})?")
_ROW_SPACE = re.compile(r"(?<!\\)\\\\\s*\[\s*-?[\d.]+\s*[a-z]{2}\s*\]")
_BLANK_LINE = re.compile(r"(?:\\\\)?\s*\n[ \t]*\n\s*")
_LAST_ROW = re.compile(r"(?<!\\)\\\\\s*(?=\\end\{)")
_IGNORED = re.compile(
    r"\\(?:label|require)\{[^{}]*\}|\\(?:tiny|small|normalsize|large|Large|LARGE|huge|Huge)(?![A-Za-z])"
)
_EQUATION_TAG = re.compile(r"\\tag\*?\s*\{")
_TAGGED = re.compile(r"\\begin\{(?:align|equation|gather|multline)\*\}")  # environments that take a tag
_TEXT = re.compile(r"\\(text(?:bf|it|rm|sf|tt|normal|up)?|mbox|hbox)\s*\{((?:[^{}\\]|\\.)*)\}")
_UNESCAPED = re.compile(r"\\.|[_^&#%]")
_IN_TEXT = re.compile(r"\\\$|\$([^$]*)\$")
_SUBSTACK = re.compile(r"\\substack\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")
_MACROS = {
    "pmb": r"\boldsymbol{#1}",
    "smash": "#1",
    "mathclap": "#1",
    "abs": r"\left|#1\right|",
    "norm": r"\left\|#1\right\|",
    "dv": r"\frac{\mathrm{d}#1}{\mathrm{d}#2}",
    "pdv": r"\frac{\partial #1}{\partial #2}",
    "href": "#2",
    "colorbox": "#2",
    "si": r"\mathrm{#1}",
    "unit": r"\mathrm{#1}",
    "SI": r"#1\,\mathrm{#2}",
    "Tr": r"\operatorname{Tr}",
    "tr": r"\operatorname{tr}",
    "rank": r"\operatorname{rank}",
    "sgn": r"\operatorname{sgn}",
    "diag": r"\operatorname{diag}",
    "varlimsup": r"\overline{\lim}",
    "varliminf": r"\underline{\lim}",
}

_ELEMENT = re.compile(r"<(/?)([a-z]+)([^<>]*?)(/?)>")
_STYLE_ATTRIBUTE = re.compile(r'\sstyle="([^"]*)"')
# The converter's inline styles, which the content security policy forbids, as classes of chat.css.
_STYLES = {
    "text-align:left": "left",
    "text-align:right": "right",
    "padding-left:0": "joined",
    "padding-right:0": "joining",
    "padding-left:1em": "apart",
    "border-top:0.05emsolidcurrentcolor": "above",
    "border-left:0.05emsolidcurrentcolor": "before",
    "border-right:0.05emsolidcurrentcolor": "after",
    "margin-left:-0.16666667em": "back",
    "width:100%": "wide",
    "width:50%": "half",
}
MATHS_CLASSES = {*_STYLES.values(), "boxed", "struck", "last"}
_ENCLOSED = re.compile(r'<menclose notation="(?:(box)|[a-z ]*)">')
_STROKE = re.compile(r'<mrow class="menclose-[a-z]+"></mrow>')
_LAST_RULE = re.compile(r'<mtr>(?:<mtd class="above(?: after)?"></mtd>)+</mtr></mtable>')
_LENGTH = re.compile(r'\s(?:voffset|linethickness)="-?([\d.]+)')
_IN_MTEXT = re.compile(r"</?(?:a|b|i|span|code)\b[^<>]*>")


class Equation(NamedTuple):
    source: str  # with its delimiters, as typed
    tex: str
    display: bool
    closed: bool  # False while it still grows
    quoted: bool  # its lines begin with the “>” of a block quote

    @property
    def cost(self) -> int:
        return len(self.source) + EQUATION_COST

    def html(self) -> str:
        """Return MathML, or the source as it was typed."""
        found = mathml(self.tex, display=self.display) if self.closed else None
        if found is None:
            source = neutralise_code(unquoted(self.source) if self.quoted else self.source)
            return f'<span class="tex" dir="ltr">{escape(source, quote=False)}</span>'
        return f'<span class="equation" tabindex="0">{found}</span>' if self.display else found


def unquoted(tex: str) -> str:
    """Return the lines of an equation in a block quote without its marks."""
    return _QUOTE_MARKER.sub("", tex)


@lru_cache(CACHED_EQUATIONS)
def mathml(tex: str, *, display: bool) -> str | None:
    """Return the equation as a `math` element with its TeX as annotation.

    None if it cannot be converted, or is beyond the limits.
    """
    shown = neutralise_code(tex)
    if not _is_bounded(shown) or _DEFINES.search(shown):
        return None
    # Imported here, because most sites never see an equation.
    from math_core import LatexError

    try:
        found = _converter().convert_with_local_state(_known(shown), displaystyle=display)
    except LatexError:
        return None
    start, _, rest = found.partition(">")
    inner = _plain(rest.removesuffix("</math>"))
    has_long = any(float(number) > MAX_LENGTH for number in _LENGTH.findall(inner))
    if has_long or len(inner) > MAX_MATHML_CHARS or _depth(inner) > MAX_MATHML_DEPTH:
        return None
    annotation = f'<annotation encoding="application/x-tex">{escape(shown, quote=False)}</annotation>'
    return f"{start}><semantics><mrow>{inner}</mrow>{annotation}</semantics></math>"


@cache
def _converter() -> "LatexToMathML":
    from math_core import LatexToMathML

    return LatexToMathML(macros=_MACROS, allow_unreliable_rendering=True, fancy_error=False)


def _is_bounded(tex: str) -> bool:
    """Return True if the converter needs at most MAX_OPEN levels of its stack."""
    levels: list[int] = []
    depth = run = 0  # `run`: the number of commands in a row
    for match in _LEVEL.finditer(tex):
        if match[1]:
            depth, run = depth - (levels.pop() if levels else 0), 0
        elif match[2]:
            run = 0
        elif match[0] in ("{", "\\begin", "\\left"):
            levels.append(run + 1)
            depth, run = depth + run + 1, 0
        else:
            run += 1
        if depth + run > MAX_OPEN:
            return False
    return True


def _known(tex: str) -> str:
    """Return the equation in the spellings that the converter knows."""
    tex = without_chemistry(tex)
    tex = _rows(_ROW_SPACE.sub(r"\\\\", tex))
    tex = _LAST_ROW.sub("", tex)
    tex = _STARRED.sub(r"\\\1{\2*}", tex)
    tex = _ENVIRONMENT.sub(_renamed, tex)
    tex = _IGNORED.sub("", tex)
    tex = _TEXT.sub(_text, tex)
    tex = _SUBSTACK.sub(r"\\begin{subarray}{c}\1\\end{subarray}", tex)
    if _EQUATION_TAG.search(tex) and not _TAGGED.search(tex):
        tex = rf"\begin{{equation*}}{tex}\end{{equation*}}"
    return tex


def _rows(tex: str) -> str:
    """Return an equation with its blank lines as rows. TeX has no meaning for them."""
    rows = _BLANK_LINE.split(tex)
    pairs = (("{", "}"), ("\\left", "\\right"))
    if (
        len(rows) == 1
        or "\\begin" in tex
        or any(row.count(a) != row.count(b) for row in rows for a, b in pairs)
    ):
        return tex
    return r"\begin{gathered}" + r" \\ ".join(rows) + r"\end{gathered}"


def _renamed(match: re.Match[str]) -> str:
    side, name = match[1], match[2]
    if name.startswith("eqnarray"):
        return r"\begin{array}{rcl}" if side == "begin" else r"\end{array}"
    return rf"\{side}{{{_RENAMED[name]}}}"


def _text(match: re.Match[str]) -> str:
    """Escape what TeX does not take as text, and put the equations in the text beside it."""
    name, words = match[1], match[2]
    name = "text" if name in ("mbox", "hbox", "textnormal", "textup") else name
    parts = _IN_TEXT.split(words)
    if "\\$" in words or len(parts) == 1:
        return rf"\{name}{{{_escaped(words)}}}"
    return "".join(
        rf"\{name}{{{_escaped(part or '')}}}" if place % 2 == 0 else f"{{{part}}}"
        for place, part in enumerate(parts)
    )


def _escaped(words: str) -> str:
    return _UNESCAPED.sub(lambda found: found[0] if len(found[0]) > 1 else f"\\{found[0]}", words)


def _plain(html: str) -> str:
    """Replace inline styles by classes, and elements that are not MathML Core."""
    html = _STYLE_ATTRIBUTE.sub(_classes, html)
    html = _IN_MTEXT.sub("", html)
    if "menclose" in html:
        html = _STROKE.sub("", html)
        html = _ENCLOSED.sub(lambda found: f'<mrow class="{"boxed" if found[1] else "struck"}">', html)
        html = html.replace("</menclose>", "</mrow>")
    return _LAST_RULE.sub('<mtr class="last"></mtr></mtable>', html)


def _classes(match: re.Match[str]) -> str:
    styles = match[1].replace(" ", "").split(";")
    names = " ".join(_STYLES[style] for style in styles if style in _STYLES)
    return f' class="{names}"' if names else ""


def _depth(html: str) -> int:
    depth = deepest = 0
    for match in _ELEMENT.finditer(html):
        depth += -1 if match[1] else not match[4]
        deepest = max(deepest, depth)
    return deepest

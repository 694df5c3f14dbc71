"""Text as it reads without the marks of Markdown and TeX. A mark that the rules miss is shown."""

import re
from collections.abc import Callable

FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})", re.MULTILINE)
RULE = re.compile(r"[ \t|:*_+=-]*(?:-{2,}|\*{3,}|_{3,}|={3,})[ \t|:*_+=-]*")
LINE_START = re.compile(r"\s*(?:(?:#{1,6}|>|[-*+]) +)+(?:\[[ xX]\] +)?")
CELL_EDGE = re.compile(r"(?:\s*(?<!\\)\|)+\s*")
CODE = re.compile(r"(`{1,3})(?!`)(.+?)(?<!`)\1(?!`)")
LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?(?: +\"[^\"]*\")?\)")
STRONG = re.compile(r"(?<!\w)(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1(?!\w)")
STRONG_EDGE = re.compile(r"\*\*|~~|(?<!\w)__|__(?!\w)")  # of a part of a text, which may lack the other edge
EMPHASIS = re.compile(
    r"(?<![\w*])\*(?=[^\s*])([^*]*[^\s*])\*(?![\w*])|(?<!\w)_(?=[^\s_])([^_]*[^\s_])_(?!\w)"
)
TAG = re.compile(r"</?(?:br|p|b|i|u|em|strong|sub|sup|kbd|small|details|summary) ?/?>", re.IGNORECASE)
ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+.!|~<>$-])")

# Dollars around an equation and not around a price: no space within, and a sign of TeX.
EQUATION = re.compile(
    r"\$\$(.+?)\$\$|\\\((.+?)\\\)|\\\[(.+?)\\\]|\$(?=\S)([^$]*[\\^_=][^$]*)(?<=\S)\$|\$([^\W\d])\$"
)
TEX = re.compile(r"\\[(\[]|\$\$|\$[^$\n]*[\\^_][^$\n]*\$")
TEX_DOLLARS = re.compile(r"\$\$|\$(?=[^$\n]*[\\^_])|(?<=[\w})])\$")
TEX_SCRIPT = re.compile(r"([\^_])(?:\{([^{}]*)\}|(\w))")
TEX_GROUP = re.compile(r"\\(?:text|math[a-z]+|operatorname|boxed|textbf|hat|bar|vec)\{([^{}]*)\}")
TEX_ROOT = re.compile(r"\\sqrt\{([^{}]*)\}")
TEX_FRACTION = re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
TEX_SPACE = re.compile(r"\\[,;:! \[\]()]|&|\\(?:begin|end)\{\w+\*?\}")
TEX_COMMAND = re.compile(r"\\([a-zA-Z]+)")
TEX_SIGNS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "Delta": "Δ", "epsilon": "ε", "theta": "θ",
    "lambda": "λ", "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ", "Sigma": "Σ", "phi": "φ", "omega": "ω",
    "Omega": "Ω", "infty": "∞", "int": "∫", "sum": "∑", "prod": "∏", "sqrt": "√", "partial": "∂", "cdot": "·",
    "times": "×", "div": "÷", "pm": "±", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠",
    "approx": "≈", "in": "∈", "to": "→", "rightarrow": "→", "Rightarrow": "⇒", "degree": "°", "circ": "°",
    "dots": "…", "ldots": "…", "cdots": "…", "quad": " ", "qquad": " ", "left": "", "right": "",
    "displaystyle": "",
}  # fmt: skip
_RAISED = str.maketrans("0123456789+-()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-()", "₀₁₂₃₄₅₆₇₈₉₊₋₍₎")


def plain_line(line: str) -> str:
    """Return a whole line as plain text. Marks that are none, as in “5 * 3” and “$5 or $6”, stay."""
    return _outside_code(line, lambda words: _without_marks(EQUATION.sub(_equation, words)))


def plain(text: str, *, in_code: bool = False) -> str:
    """Return a part of a reply as plain text. `in_code`: it begins in a block of code."""
    has_tex = TEX.search(text) is not None

    def read(words: str) -> str:
        words = _without_tex(TEX_DOLLARS.sub("", words)) if has_tex else words
        return ESCAPE.sub(r"\1", _without_marks(STRONG_EDGE.sub("", TAG.sub(" ", words))))

    lines = []
    for line in text.split("\n"):
        if FENCE.match(line):
            in_code = not in_code
        elif in_code:
            lines.append(line)
        elif not RULE.fullmatch(line):
            lines.append(_outside_code(_without_block_marks(line), read))
    return "\n".join(lines)


def _without_block_marks(line: str) -> str:
    line = line[found.end() :] if (found := LINE_START.match(line)) else line
    return CELL_EDGE.sub(" · ", line).strip(" ·") if line.lstrip().startswith("|") else line


def _outside_code(line: str, change: Callable[[str], str]) -> str:
    pieces = CODE.split(line)  # text, then the backticks, the code and the text after each code span
    pieces[::3] = map(change, pieces[::3])
    del pieces[1::3]
    return "".join(pieces)


def _without_marks(words: str) -> str:
    words = STRONG.sub(r"\2", LINK.sub(r"\1", words))
    return EMPHASIS.sub(lambda found: found[1] or found[2], words)


def _equation(found: re.Match[str]) -> str:
    tex = TEX_SCRIPT.sub(_script, next(filter(None, found.groups())))
    return " ".join(re.sub(r"[{}\\]", "", _without_tex(tex)).split())


def _script(found: re.Match[str]) -> str:
    words = found[2] or found[3] or ""
    shown = words.translate(_RAISED if found[1] == "^" else _LOWERED)
    is_drawn = not any(letter in words for letter in shown)
    return shown if is_drawn else f"{found[1]}{_grouped(words)}"


def _without_tex(tex: str) -> str:
    """Return TeX as it is read aloud; commands that are not known stay."""
    tex = TEX_GROUP.sub(r"\1", TEX_SPACE.sub(" ", tex))
    tex = TEX_ROOT.sub(lambda found: f"√{_grouped(found[1])}", tex)
    tex = TEX_FRACTION.sub(lambda found: f"{_grouped(found[1])}/{_grouped(found[2])}", tex)
    return TEX_COMMAND.sub(lambda found: TEX_SIGNS.get(found[1], found[0]), tex)


def _grouped(words: str) -> str:
    return words if len(words) < 2 or words.isalnum() else f"({words})"

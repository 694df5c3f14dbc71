"""TeX and Markdown in a generated title, as they would be read: “Solve $x^2 = 4$” is “Solve x² = 4”."""

import re

_RAISED = str.maketrans("0123456789+-()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-()", "₀₁₂₃₄₅₆₇₈₉₊₋₍₎")
# Commands that a title may have; of another one its name remains, as of “sin”.
_SIGNS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "Delta": "Δ", "epsilon": "ε", "theta": "θ",
    "lambda": "λ", "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ", "Sigma": "Σ", "phi": "φ", "omega": "ω",
    "Omega": "Ω", "infty": "∞", "int": "∫", "sum": "∑", "prod": "∏", "cdot": "·", "times": "×", "div": "÷",
    "pm": "±", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "approx": "≈", "to": "→",
    "in": "∈", "quad": " ", "left": "", "right": "", "text": "", "mathrm": "", "mathbf": "", "mathbb": "",
}  # fmt: skip
# Dollars around an equation and not around a price: no space within, and a sign of TeX.
_MATHS = re.compile(
    r"\$\$(.+?)\$\$|\\\((.+?)\\\)|\\\[(.+?)\\\]|\$(?=\S)([^$]*[\\^_=][^$]*)(?<=\S)\$|\$([^\W\d])\$"
)
_FRACTION = re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
_ROOT = re.compile(r"\\sqrt\{([^{}]*)\}")
_SCRIPT = re.compile(r"([\^_])(?:\{([^{}]*)\}|(\w))")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_LINK = re.compile(r"!?\[([^\[\]]+)\]\([^()\s]*\)")
_STRESSED = re.compile(
    r"(?<!\w)(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1(?!\w)|(?<![\w*])\*(?=[^\s*])([^*]+)(?<=\S)\*(?![\w*])"
)
_CODE = re.compile(r"(`+)([^`]+)\1")


def without_marks(title: str) -> str:
    """Return the title as plain text. Marks that are none, as in “5 * 3” and “$5 or $6”, stay."""
    read = _MATHS.sub(lambda found: _equation(next(filter(None, found.groups()))), title)
    read = _CODE.sub(r"\2", _LINK.sub(r"\1", read))
    return _STRESSED.sub(lambda found: found[2] or found[3], read)


def _equation(tex: str) -> str:
    tex = _SCRIPT.sub(_script, tex)
    tex = _ROOT.sub(lambda found: f"√{_grouped(found[1])}", tex)
    tex = _FRACTION.sub(lambda found: f"{_grouped(found[1])}/{_grouped(found[2])}", tex)
    tex = _COMMAND.sub(lambda found: _SIGNS.get(found[1], found[1]), tex)
    return " ".join(tex.replace("{", "").replace("}", "").replace("\\", "").split())


def _script(found: re.Match[str]) -> str:
    words = found[2] or found[3] or ""
    shown = words.translate(_RAISED if found[1] == "^" else _LOWERED)
    is_drawn = not any(letter in words for letter in shown)
    return shown if is_drawn else f"{found[1]}{_grouped(words)}"


def _grouped(words: str) -> str:
    return words if len(words) < 2 or words.isalnum() else f"({words})"

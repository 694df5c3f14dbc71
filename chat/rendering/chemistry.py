r"""Chemical formulas and quantities, `\ce{…}` and `\pu{…}` of mhchem, in the TeX that the converter knows.

What is usual in replies: formulas, charges, isotopes, states, bonds, crystal water, coefficients, arrows with
words above and below, precipitates and gases. See https://mhchem.github.io/MathJax-mhchem/.
"""

import re

_ARROWS = {
    "<=>>": ("rightleftharpoons", "rightleftharpoons"),
    "<<=>": ("rightleftharpoons", "rightleftharpoons"),
    "<=>": ("rightleftharpoons", "rightleftharpoons"),
    "<-->": ("rightleftarrows", "rightleftarrows"),
    "<->": ("longleftrightarrow", "leftrightarrow"),
    "-->": ("longrightarrow", "rightarrow"),
    "->": ("longrightarrow", "rightarrow"),
    "<-": ("longleftarrow", "leftarrow"),
    "⇌": ("rightleftharpoons", "rightleftharpoons"),
    "→": ("longrightarrow", "rightarrow"),
}
_BONDS = {"-": "{-}", "=": "{=}", "#": r"{\equiv}", "1": "{-}", "2": "{=}", "3": r"{\equiv}"}
_GROUP = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_ARGUMENT = rf"\[((?:[^\[\]{{}}]|{_GROUP})*)\]"
_CALL = re.compile(rf"\\(ce|pu)\s*({_GROUP})")
_TOKEN = re.compile(
    rf"(?P<arrow>{'|'.join(map(re.escape, _ARROWS))})(?:{_ARGUMENT}(?:{_ARGUMENT})?)?"
    r"|(?P<space>\s+)"
    rf"|\\bond\{{(?P<bond>[^{{}}]*)\}}|(?P<command>\\(?:[A-Za-z]+|.)(?:{_GROUP})*)|(?P<group>{_GROUP})"
    r"|(?P<fall>(?<![^\s])[v^](?![^\s]))"
    rf"|(?P<script>[\^_])(?P<what>{_GROUP}|\\[A-Za-z]+|[0-9]*[+-]+|[0-9]+|[A-Za-z]|[.*•])"
    r"|(?P<number>[0-9]+(?:[.,][0-9]+)?(?:/[0-9]+)?)"
    r"|(?P<state>\((?:aq|s|l|g|cr|am|sln|ads)\))"
    r"|(?P<letters>[A-Za-z]+|[^\W\d_])|(?P<bracket>[()\[\]])|(?P<dot>[.*·•])|(?P<other>[-+=\#,;:/|'])"
)
_INDEX = re.compile(r"(?P<number>[0-9]+)")  # “CuSO4.5H2O” holds four of O, and five of H2O
_FRACTION = re.compile(r"([0-9]+)/([0-9]+)\Z")
_ROMAN_OR_WORD = re.compile(r"[A-Za-z]+")
_QUANTITY = re.compile(
    r"(?P<number>[-+]?[0-9]+(?:[.,][0-9]+)*)(?:[eE](?P<power>[-+]?[0-9]+))?"
    r"|(?P<unit>\\?[A-Za-zµΩÅ°%]+)(?P<exponent>\^?\{?[-+]?[0-9]+\}?)?|(?P<space>\s+)|(?P<dot>[.*·])|(?P<other>[/()^_+-])"
)


def without_chemistry(tex: str) -> str:
    r"""Return the equation with its `\ce` and `\pu` as other TeX. What is not understood stays."""
    if "\\ce" not in tex and "\\pu" not in tex:
        return tex
    return _CALL.sub(lambda call: _read(call[1], call[2][1:-1]) or call[0], tex)


def _read(name: str, source: str) -> str | None:
    found = _Formula(source).tex() if name == "ce" else _quantity(source)
    return None if found is None else f"{{{found}}}"


class _Formula:
    """One formula or equation, read from left to right."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._out: list[str] = []
        self._touches = False  # True directly behind something that a number or a charge belongs to
        self._scripts: set[str] = set()  # those that it has already

    def tex(self) -> str | None:
        at = 0
        while at < len(self._source):
            match = (self._touches and _INDEX.match(self._source, at)) or _TOKEN.match(self._source, at)
            if match is None:
                return None
            self._add(_kind(match), match)
            at = match.end()
        return "".join(self._out)

    def _add(self, kind: str, match: re.Match[str]) -> None:
        text = match[0]
        touched, self._touches = self._touches, False
        if kind == "arrow":
            self._out.append(_arrow(match))
        elif kind == "space":
            self._out.append(" ")
        elif kind == "fall":
            self._out.append(r"\downarrow " if text == "v" else r"\uparrow ")
        elif kind == "bond":
            self._out.append(_BONDS.get(match["bond"], "{-}"))
        elif kind == "script":
            self._script(match["script"], _script_tex(match["what"]), touched=touched)
        elif kind == "number":
            self._number(text, touched=touched)
        elif kind in ("letters", "bracket", "group", "command"):
            self._atom(kind, text)
        elif kind == "state":
            self._out.append(rf"\,(\mathrm{{{text[1:-1]}}})")
        elif kind == "dot":
            self._out.append(r"\cdot ")
        else:
            self._sign(text, match.end(), touched=touched)

    def _atom(self, kind: str, text: str) -> None:
        if kind == "letters":
            starts = not self._out or self._out[-1].endswith((" ", r"\,"))
            is_variable = starts and len(text) == 1 and text in "abknmxyz"
            text = rf"{text}\," if is_variable else rf"\mathrm{{{text}}}"
        elif kind == "group":
            text = rf"\text{{{text[1:-1]}}}" if re.fullmatch(r"\{[^{}\\$]*\}", text) else text
        self._out.append(text if kind != "command" else f"{text} ")
        self._touches = text not in ("(", "[")
        self._scripts = set()

    def _script(self, mark: str, tex: str, *, touched: bool) -> None:
        if not touched or mark in self._scripts:
            self._out.append("{}")
            self._scripts = set()
        self._out.append(f"{mark}{{{tex}}}")
        self._scripts.add(mark)
        self._touches = True

    def _number(self, text: str, *, touched: bool) -> None:
        if touched:
            return self._script("_", text, touched=True)
        fraction = _FRACTION.match(text)
        self._out.append(rf"\tfrac{{{fraction[1]}}}{{{fraction[2]}}}\," if fraction else rf"{text}\,")
        return None

    def _sign(self, text: str, end: int, *, touched: bool) -> None:
        after = self._source[end : end + 1]
        if text in "+-" and touched and not (after.isalnum() or after in ("\\", "{", "(", "[")):
            self._script("^", text, touched=True)
        elif touched and text in _BONDS:
            self._out.append(_BONDS[text])
        else:
            self._out.append(text)


def _kind(match: re.Match[str]) -> str:
    if match.re is _INDEX:
        return "number"
    return "arrow" if match["arrow"] else "script" if match["script"] else str(match.lastgroup)


def _arrow(match: re.Match[str]) -> str:
    plain, stretched = _ARROWS[match["arrow"]]
    above, below = (_Formula(each).tex() if each else "" for each in match.group(2, 3))
    if not above and not below:
        return rf"\{plain} "
    return rf"\x{stretched}[{below or ''}]{{{above or ''}}} "


def _script_tex(what: str) -> str:
    if what[0] == "\\":
        return what
    inner = what[1:-1] if what[0] == "{" else what
    if "\\" in inner:
        return inner
    if inner in (".", "•", "*"):
        return r"\bullet" if inner != "*" else "*"
    return _ROMAN_OR_WORD.sub(lambda word: rf"\mathrm{{{word[0]}}}" if len(word[0]) > 1 else word[0], inner)


def _quantity(source: str) -> str | None:
    """Return a number with its unit, as in `\\pu{1.2e3 kJ/mol}`."""
    out, at = [], 0
    while at < len(source):
        match = _QUANTITY.match(source, at)
        if match is None:
            return None
        at = match.end()
        if match["number"]:
            out.append(match["number"] + (rf"\times 10^{{{match['power']}}}" if match["power"] else ""))
        elif match["unit"]:
            unit = (
                match["unit"]
                if match["unit"][0] == "\\"
                else rf"\mathrm{{{match['unit'].replace('%', chr(92) + '%')}}}"
            )
            exponent = (match["exponent"] or "").strip("^{}")
            out.append(unit + (f"^{{{exponent}}}" if exponent else ""))
        else:
            out.append(r"\," if match["space"] else r"\cdot " if match["dot"] else match[0])
    return "".join(out)

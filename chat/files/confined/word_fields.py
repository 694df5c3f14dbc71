"""The text that Word shows for a field or a content control: values of XML elsewhere, signs, formulas."""

import re
from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element

from .containers import Package
from .fonts import sign_of

# The stores that have no part of their own in a document (ECMA-376 part 1, 17.5.2.6, [MS-OE376]).
STORES = {
    "{6C3C8BC8-F283-45AE-878A-BAB7291924A1}": "docProps/core.xml",
    "{6668398D-A668-4E3E-A5EB-62B293D839F1}": "docProps/app.xml",
}
STEP = re.compile(r"/(@?)(?:[\w.-]+:)?([\w.-]+)(?:\[(\d+)\])?")
SYMBOL = re.compile(
    r'\s*SYMBOL\s+(0x[0-9a-f]{1,4}|[1-9]\d{0,4})\b(?:[^"]*?\\f\s*"([^"]{1,99})")?', re.IGNORECASE
)
EQUATION = re.compile(r"\s*EQ\b(.*)", re.IGNORECASE | re.DOTALL)
FORMAT = re.compile(r'\\\*\s*(?:"[^"]*"|\w+)\s*')  # \* jc2 \* "Font:MS Mincho" \* hps10
ESCAPED = re.compile(r"\\([(),;\\{}])")
PART = re.compile(
    r"\\(do|up|[abdfilorsx])((?:\s*\\(?:[lrbfv]c\\?\S|[a-z]{2}\s*\d*))*|\s*\d+)\s*\(([^()]*)\)", re.IGNORECASE
)
REST = re.compile(r"\\(?:[lrbfv]c\\?\S|(?!frac|sqrt|int)[a-z]{1,2}\s*\d*)", re.IGNORECASE)
MAX_DEPTH = 30
HIDDEN = str.maketrans("(),;\\{}", "\ue000\ue001\ue002\ue003\ue004\ue005\ue006")
SHOWN = {hidden: chr(sign) for sign, hidden in HIDDEN.items()}
KEPT = {sign: hidden for sign, hidden in HIDDEN.items() if chr(sign) in "(),;"}


class Bindings:
    """The values that controls of a document are bound to. Names are compared without their namespaces."""

    def __init__(self, package: Package, targets: Iterable[str]) -> None:
        self._roots = {name: package.root(part) for name, part in STORES.items()}
        for part in targets:
            for relation in package.relations(part).values():
                if relation.kind == "customXmlProps":
                    identity = package.root(relation.target).get("itemID", "")
                    self._roots[identity.upper()] = package.root(part)

    def filled(self, elements: Iterable[Element]) -> Iterator[Element]:
        """Return elements with the values of the controls for plain text in them."""
        for element in elements:
            for control in element.iter("w-sdt"):
                self._fill(control)
            yield element

    def _fill(self, control: Element) -> None:
        binding = control.find("w-sdtPr/w-dataBinding")
        if binding is None or control.find("w-sdtPr/w-text") is None:
            return
        found = self._value(binding.get("storeItemID", ""), binding.get("xpath", ""))
        for each in control.iter("w-t") if found else ():
            each.text, found = found, ""

    def _value(self, store: str, path: str) -> str:
        """Return what a path leads to; "" if it is none of the simple ones that Word writes."""
        path = path.removesuffix("/text()")
        parent, place = Element("none"), self._roots.get(store.upper())
        if place is None or STEP.sub("", path):
            return ""
        parent.append(place)
        for mark, name, number in STEP.findall(path):
            if mark:
                return parent.get(name, "")
            found = [each for each in parent if each.tag == name][int(number or 1) - 1 :]
            if not found:
                return ""
            parent = found[0]
        return parent.text or ""


def field_text(instruction: str) -> str:
    """Return the sign, or the formula in one line; "" for other fields."""
    if found := SYMBOL.match(instruction):
        return sign_of(int(found[1], 0), found[2] or "")
    if not (found := EQUATION.match(instruction)):
        return ""
    text = ESCAPED.sub(lambda each: each[1].translate(HIDDEN), FORMAT.sub("", found[1]))
    for _ in range(MAX_DEPTH):
        text, count = PART.subn(_part, text)
        if not count:
            break
    text = REST.sub("", text).translate(SHOWN).strip()
    return f"${text}$" if re.search(r"\\(?:frac|sqrt|int)|[_^]\{", text) else text


def _part(found: re.Match[str]) -> str:
    """Return a part without others in it: an array, a fraction, a root, …"""
    kind, options, inside = found[1].lower(), found[2].lower(), found[3]
    parts = [each.strip() for each in inside.split(";" if ";" in inside else ",")]
    if kind == "f" and len(parts) == 2:
        made = rf"\frac{{{parts[0]}}}{{{parts[1]}}}"
    elif kind == "r":
        made = rf"\sqrt{f'[{parts[0]}]' if len(parts) > 1 and parts[0] else ''}{{{parts[-1]}}}"
    elif kind == "i" and len(parts) == 3:
        made = rf"\int_{{{parts[0]}}}^{{{parts[1]}}} {parts[2]}"
    elif kind in ("s", "do", "up"):
        made = f"{'_' if 'do' in kind + options else '^'}{{{inside.strip()}}}"
    elif kind == "o":  # one over the other; what is raised is the reading of the others
        made = "".join(each for each in parts if not each.startswith("^{"))
    elif kind == "b":
        made = f"({inside})"
    else:
        made = ", ".join(parts)
    return made.translate(KEPT)

"""The values that content controls of a Word document show: those of XML elsewhere in its file."""

import re
from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element

from .ooxml import Package

# The stores that have no part of their own in a document (ECMA-376 part 1, 17.5.2.6, [MS-OE376]).
STORES = {
    "{6C3C8BC8-F283-45AE-878A-BAB7291924A1}": "docProps/core.xml",
    "{6668398D-A668-4E3E-A5EB-62B293D839F1}": "docProps/app.xml",
}
STEP = re.compile(r"/(@?)(?:[\w.-]+:)?([\w.-]+)(?:\[(\d+)\])?")


class Bindings:
    """Where the controls of a document are bound to. Names are compared without their namespaces."""

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

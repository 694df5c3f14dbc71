"""The values of cells that are more than a number or a text, such as pictures and shares ([MS-XLSX])."""

from xml.etree.ElementTree import Element

from .ooxml import Package, Relation


def rich_values(package: Package, relations: dict[str, Relation]) -> list[str]:
    """Return what the values show, in the order of the numbers (`vm`) of cells; "" for what is not known."""
    roots = {each.kind: package.root(each.target) for each in relations.values()
             if each.kind in ("sheetMetadata", "rdRichValue", "rdRichValueStructure")}  # fmt: skip
    if len(roots) < 3:
        return []
    structures = list(roots["rdRichValueStructure"].iter("s"))
    values = [_shown(each, structures) for each in roots["rdRichValue"].iter("rv")]
    places = [each.get("i", "") for each in roots["sheetMetadata"].iter("rvb")]
    blocks = roots["sheetMetadata"].iterfind("x-valueMetadata/x-bk/x-rc")
    return [_at(values, _at(places, each.get("v", ""))) for each in blocks]


def _shown(rich: Element, structures: list[Element]) -> str:
    number = rich.get("s", "")
    if not number.isdigit() or int(number) >= len(structures):
        return ""
    structure = structures[int(number)]
    fields = {key.get("n"): each.text or "" for key, each in zip(structure, rich, strict=False)}
    if structure.get("t", "").lower() in ("_localimage", "_webimage"):
        return f"[picture: {fields['Text']}]" if fields.get("Text") else "[picture]"
    return fields.get("_DisplayString", "")


def _at(values: list[str], number: str) -> str:
    return values[int(number)] if number.isdigit() and int(number) < len(values) else ""

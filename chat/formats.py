"""How numbers are written in pages."""

from django.utils.formats import number_format


def grouped_number(number: float) -> str:
    """200,000, as the language writes it."""
    return number_format(number, force_grouping=True)

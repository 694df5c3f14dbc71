"""Number formatting for pages and messages."""

from django.utils.formats import number_format


def grouped_number(number: float) -> str:
    """Return the number with the active language's digit grouping, such as 200,000."""
    return number_format(number, force_grouping=True)

"""A check for passwords that consist of a common one and what people add to it."""

import re
from typing import Any

from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError

MAX_ADDED_CHARS = 8  # around the common part, such as a year and an exclamation mark
MIN_DIFFERENT_CHARS = 5
# Letters that are written as digits or symbols.
LEET = str.maketrans("@4301!|5$7", "aaeoiiisst")
CORES = re.compile(r"[a-z]+(?:[^a-z]+[a-z]+)*|\d+")


class CommonPartValidator(CommonPasswordValidator):
    """Refuse `Summer2026!` and `P@ssw0rd2026` as Django refuses `summer` and `password`."""

    def validate(self, password: str, user: Any = None) -> None:
        lower = password.lower()
        if len(set(lower)) < MIN_DIFFERENT_CHARS:
            raise ValidationError(self.get_error_message(), code="password_too_common")
        for spelling in (lower, lower.translate(LEET)):
            for core in CORES.findall(spelling):
                if len(password) - len(core) <= MAX_ADDED_CHARS:
                    super().validate(core, user)

"""Passwords that common lists hold, with what people add to them."""

import pytest
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

COMMON = (
    "P@ssw0rd2026 Summer2026! Winter-2026 Sommer2026! Welcome123! Qwerty12345 Passw0rd!! Monday2026! "
    "iloveyou2026 qwertyuiop123 Aa123456789 1234567890a !!monkey2025 aaaaaaaaaa12 pa$$word12 Charlie1987! "
    "Passwort2026 Motdepasse1! Letmein-2026! 123456789password"
)
OTHERS = [
    "correct horse battery",
    "a lighthouse by the sea",
    "kT9#vQ2mXw",
    "blue-kettle-94",
    "summer 4827 19365",
    "4827193651",
    "наш старый дом",
]


@pytest.mark.parametrize("password", COMMON.split())
def test_a_common_password_with_additions_is_refused(password: str) -> None:
    with pytest.raises(ValidationError) as refused:
        validate_password(password)
    assert [error.code for error in refused.value.error_list] == ["password_too_common"]


@pytest.mark.parametrize("password", OTHERS)
def test_others_are_accepted(password: str) -> None:
    validate_password(password)

"""Passwords: hashing with bounded memory, and a check for a common one with what people add to it."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.contrib.auth.hashers import Argon2PasswordHasher
from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError

# Computing one hash takes 19 MB. Fifty concurrent logins took 2 GB with Django's defaults, and 370 MB with a
# semaphore, because every thread that had hashed kept its memory; with this thread pool they take 47 MB.
HASHES_AT_ONCE = 3
HASH_THREADS = ThreadPoolExecutor(HASHES_AT_ONCE, thread_name_prefix="hash")
MAX_ADDED_CHARS = 8  # around the common part, such as a year and an exclamation mark
MIN_DIFFERENT_CHARS = 5
# Letters that are written as digits or symbols.
LEET = str.maketrans("@4301!|5$7", "aaeoiiisst")
CORES = re.compile(r"[a-z]+(?:[^a-z]+[a-z]+)*|\d+")


class GatedArgon2PasswordHasher(Argon2PasswordHasher):
    """Argon2id with OWASP's parameters for a server, at most HASHES_AT_ONCE at a time. The caller blocks."""

    time_cost = 2
    memory_cost = 19_456  # KiB
    parallelism = 1

    def encode(self, password: str, salt: str) -> Any:
        """Hash a new password, or a dummy password for an unknown username."""
        return HASH_THREADS.submit(super().encode, password, salt).result()

    def verify(self, password: str, encoded: str) -> Any:
        """Compare a password with a stored hash."""
        return HASH_THREADS.submit(super().verify, password, encoded).result()


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

"""Password hashing with bounded memory."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.contrib.auth.hashers import Argon2PasswordHasher

# Computing one hash takes 19 MB. Fifty concurrent logins took 2 GB with Django's defaults, and 370 MB with a
# semaphore, because every thread that had hashed kept its memory; with this thread pool they take 47 MB.
HASHES_AT_ONCE = 3
HASH_THREADS = ThreadPoolExecutor(HASHES_AT_ONCE, thread_name_prefix="hash")


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

"""How passwords are hashed."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.contrib.auth.hashers import Argon2PasswordHasher

# A hash takes 19 MB while it is made. Fifty logins at once took 2 GB with Django's defaults, 370 MB with a
# semaphore here, because every thread that hashed kept its memory for itself; with threads of its own 47 MB.
HASHES_AT_ONCE = 3
THREADS = ThreadPoolExecutor(HASHES_AT_ONCE, thread_name_prefix="hash")


class GatedArgon2PasswordHasher(Argon2PasswordHasher):
    """Argon2id with OWASP's parameters for a server, a few at a time. The caller waits."""

    time_cost = 2
    memory_cost = 19_456  # KiB
    parallelism = 1

    def encode(self, password: str, salt: str) -> Any:
        """Hash a new password, or a dummy for a name that does not exist."""
        return THREADS.submit(super().encode, password, salt).result()

    def verify(self, password: str, encoded: str) -> Any:
        """Compare a password with a stored hash."""
        return THREADS.submit(super().verify, password, encoded).result()

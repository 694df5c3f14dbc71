"""The site's password hasher for the tests' own process: the same, but a hash costs 0.1 ms instead of 30."""

from chat.accounts.passwords import GatedArgon2PasswordHasher


class CheapHasher(GatedArgon2PasswordHasher):
    """The servers of other tests keep the chosen parameters."""

    time_cost = 1
    memory_cost = 8  # KiB

"""Identifiers: digests of the accounts' names and e-mail addresses, equal for those that look alike.

Each belongs to one account, so that no name or address can be mistaken for that of another account.

The skeleton of a name is that of UTS #39, https://www.unicode.org/reports/tr39/#Confusable_Detection. Its
table is a file in this directory instead of a library's, because digests are stored: they must not change
with an update. The table covers letters and digits only; the other characters that a name may contain are
`.@+-_`.
"""

import hashlib
import json
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import IntegrityError, models
from django.db.models import Q

TABLE = Path(__file__).with_name("confusables.json")


def digests(name: str, address: str) -> set[str]:
    """Return the digests (hex) of an account's name and e-mail address; an empty address has none.

    A name has two: as it is written, where `I` looks like `l`, and case-folded, where `i` does not. An
    address has the case-folded one only, because an address is not chosen for its look.
    """
    folded, normalized = unicodedata.normalize("NFKC", name.casefold()), unicodedata.normalize("NFKC", name)
    looks = {skeleton(folded), skeleton(normalized)} if name else set()
    if address:
        looks.add(skeleton(unicodedata.normalize("NFKC", address.casefold())))
    return {hashlib.sha256(look.encode("utf-8", "surrogatepass")).hexdigest() for look in looks}


def skeleton(text: str) -> str:
    """Return the text with each character replaced by the prototype that it looks like, case-folded."""
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFD", decomposed.translate(_prototypes())).casefold()


@cache
def _prototypes() -> dict[int, str]:
    look_alikes = json.loads(TABLE.read_text("utf-8"))["look_alikes"]
    return {ord(each): prototype for prototype, those in look_alikes.items() for each in those}


class IdentifierManager(models.Manager["Identifier"]):
    def taken(self: Self, user_id: Any, name: str, address: str) -> bool:
        """Return True if another account has a name or an address that `name` or `address` looks like.

        Identifiers that the account holds already do not count, even disputed ones. `user_id` None: a new
        account.
        """
        wanted = digests(name, address) - self._held(user_id)
        return self.filter(digest__in=wanted).exclude(user_id=user_id).exists()

    def claim(self: Self, user_id: int, name: str, address: str) -> None:
        """Store the identifiers of a stored account's name and address; delete those of its former ones.

        Raises IntegrityError when another account has one of them. Call it in a transaction.
        """
        wanted, held = digests(name, address), self._held(user_id)
        if former := held - wanted:
            self.filter(user_id=user_id, digest__in=former).delete()
        if not (missing := wanted - held):
            return
        if self.filter(digest__in=missing, disputed=True).exists():  # the constraint ignores these
            raise IntegrityError("Another account has this name or address, or one that looks like it.")
        self.bulk_create(Identifier(user_id=user_id, digest=digest) for digest in missing)

    def owner(self: Self, login: str) -> Any:
        """Return the primary key of the account that the typed `login` belongs to, None if there is none."""
        found = self.filter(digest__in=digests("", login), disputed=False).values_list("user_id", flat=True)
        return found.first()

    def _held(self, user_id: Any) -> set[str]:
        return set(self.filter(user_id=user_id).values_list("digest", flat=True)) if user_id else set()


class Identifier(models.Model):
    """One digest that an account holds.

    `disputed` marks accounts that looked alike before this table existed: all of them except the oldest.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="identifiers")
    digest = models.CharField(max_length=64, db_index=True, editable=False)
    disputed = models.BooleanField(default=False, editable=False)

    objects: ClassVar[IdentifierManager] = IdentifierManager()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["digest"], condition=Q(disputed=False), name="identifier_of_one_account"
            ),
            models.UniqueConstraint(fields=["user", "digest"], name="identifier_once"),
        ]

    def __str__(self) -> str:
        return self.digest

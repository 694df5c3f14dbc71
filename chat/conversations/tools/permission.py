"""The permission of the account's token to search the web, as far as this process knows.

Web Search needs the permissions Workers AI: Read and AI Gateway: Read. A refusal is forgotten after a while,
because a token can be given more.
"""

import time

from chat.catalog import config
from chat.upstream.client import Account
from chat.upstream.errors import ErrorKind, UpstreamError

FORBIDDEN = {ErrorKind.AUTH, ErrorKind.NOT_PERMITTED}
REMEMBERED_SECONDS = 3_600.0  # a search that succeeds ends it

_refused: dict[Account, float] = {}


def learn(account: Account, error: UpstreamError | None) -> None:
    """Remember that the account was refused, if that is what the error says."""
    if error is None or error.kind not in FORBIDDEN:
        _refused.pop(account, None)
    else:
        _refused.clear()
        _refused[account] = time.monotonic() + REMEMBERED_SECONDS


def forget() -> None:
    _refused.clear()


def is_refused() -> bool:
    account = config.account()
    return account is not None and _refused.get(account, 0.0) > time.monotonic()

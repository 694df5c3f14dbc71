"""The default SECRET_KEY: created at the first start, and kept in a file that only its owner can read."""

import os
import secrets
from pathlib import Path

from chatsite.env import EnvError

KEY_BYTES = 64
MIN_KEY_CHARS = 50  # Django warns below that


def get_or_create(path: Path) -> str:
    """Return the key in `path`, and create it first if there is none.

    Processes that start at the same moment must agree on one key. Each writes a whole key to a file of its
    own and links it to `path`: a link appears complete or not at all, and only the first one succeeds.

    Raises EnvError: when the folder cannot be written, or the file holds no key.
    """
    try:
        if not path.exists():
            _offer(path)
        key = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise EnvError(
            f"The secret key {path} cannot be read or made ({reason}): let DATA_DIR name a folder that "
            "this user can write, or set SECRET_KEY."
        ) from None
    if len(key) < MIN_KEY_CHARS:
        raise EnvError(f"The secret key in {path} is too short: delete the file, and a new one is made.")
    return key


def _offer(path: Path) -> None:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(KEY_BYTES) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)
    except FileExistsError:
        return  # another process was first; its key is used
    finally:
        draft.unlink()

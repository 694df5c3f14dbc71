"""The arguments of earlier tool calls, which programs send back as the model wrote them."""

import json
import re

NO_ARGUMENTS = "{}"
BACKSLASH = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
CUT_WORD = re.compile(r"[\w.+-]{0,20}\s*")  # of a number or a literal at the end


def mended(arguments: object) -> object:
    """Return arguments that can be parsed, an object as it is.

    Servers fail on what is no JSON. Control characters are escaped, and backslashes that escape nothing.
    Calls without arguments, and with arguments that were cut off, have none. What else cannot be read stands
    under `raw`: it was handed out like this, and its model sees what it wrote.
    """
    if isinstance(arguments, dict):
        return arguments
    if not isinstance(arguments, str) or not arguments.strip():
        return NO_ARGUMENTS
    escaped = BACKSLASH.sub(lambda found: found[0] if found[1] else r"\\", arguments)
    for text in (arguments, escaped):
        try:
            value = json.loads(text, strict=False)
        except RecursionError:
            return NO_ARGUMENTS
        except ValueError as error:
            failure = error
            continue
        if value is None:
            return NO_ARGUMENTS
        return arguments if _is_strict(arguments) else json.dumps(value, ensure_ascii=False)
    if _is_cut(failure):
        return NO_ARGUMENTS
    return json.dumps({"raw": arguments}, ensure_ascii=False)


def _is_strict(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _is_cut(error: ValueError) -> bool:
    """Return True if the text ends where its JSON goes on."""
    if not isinstance(error, json.JSONDecodeError):
        return False  # a number with too many digits
    rest = error.doc[error.pos :]
    return "Unterminated" in error.msg or (error.pos > 0 and CUT_WORD.fullmatch(rest) is not None)

"""Cloudflare's error codes: code, status, the kind of error that it becomes, and whether it is permanent."""

from pathlib import Path

from chat.upstream.errors import ErrorKind

TABLE = Path(__file__).with_name("error_codes.txt").read_text("utf-8")
CODES = [
    (int(code), int(status), ErrorKind(kind), not again)
    for code, status, kind, *again in map(str.split, TABLE.splitlines())
    if code.isdecimal()
]

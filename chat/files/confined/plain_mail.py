"""The plain text of mail: lines that flow as paragraphs, without what is not for people."""

import re

PGP = re.compile(r"-----BEGIN PGP (MESSAGE|SIGNATURE)-----\n(?:(?!-)[^\n]{0,200}\n)*-----END PGP \1-----")
UUENCODED = re.compile(r"^begin [0-7]{3,4} ([^\n]{1,200})\n(?:[!-`][^\n]{0,90}\n)*end$", re.MULTILINE)
QUOTES = re.compile(r">*")


def plain_text(text: str, is_flowed: bool = False, without_spaces: bool = False) -> str:
    """Return the text; armor of PGP and files inside of it are named."""
    text = text.replace("\r\n", "\n")
    text = PGP.sub(lambda found: "[Encrypted with PGP]" if found[1] == "MESSAGE" else "", text)
    text = UUENCODED.sub(r"[Attachment: \1]", text)
    return joined_lines(text, without_spaces) if is_flowed else text


def joined_lines(text: str, without_spaces: bool) -> str:
    """Return the text with its paragraphs in one line each, as format=flowed means it (RFC 3676)."""
    lines: list[str] = []
    depth, is_open = 0, False
    for line in text.split("\n"):
        quotes = len(QUOTES.match(line)[0])  # type: ignore[index]
        content = line[quotes:].removeprefix(" ")
        if is_open and quotes == depth and content != "-- ":
            lines[-1] += content
        else:
            lines.append(f"{'>' * quotes}{' ' * bool(quotes)}{content}")
        depth, is_open = quotes, content.endswith(" ") and content != "-- "
        if is_open and without_spaces:
            lines[-1] = lines[-1][:-1]
    return "\n".join(lines)

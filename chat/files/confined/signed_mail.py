"""The message inside of signed data of S/MIME, which anybody can read (RFC 8551, section 3.5.2)."""

SIGNED, DATA = (bytes.fromhex(f"06092a864886f70d01070{kind}") for kind in (2, 1))  # object identifiers
HEAD_BYTES = 40  # in which the kind of the whole is told
OCTETS, PARTS_OF_OCTETS, CONTENT = 0x04, 0x24, 0xA0  # tags of BER (X.690)


def is_signed(content: bytes) -> bool:
    """Return True if this is signed data, not encrypted."""
    return SIGNED in content[:HEAD_BYTES]


def signed_message(content: bytes) -> bytes:
    """Return the bytes that were signed, none if they are elsewhere."""
    start = content.find(DATA)
    at, found = start + len(DATA), bytearray()
    while start >= 0 and at < len(content):
        tag = content[at]
        size, at = _size(content, at + 1)
        if tag == OCTETS:
            found += content[at : at + size]
            at += size
        elif tag not in (CONTENT, PARTS_OF_OCTETS):
            break
    return bytes(found)


def _size(content: bytes, at: int) -> tuple[int, int]:
    """Return the size of a value, 0 if its end is marked instead, and where the value begins."""
    first = int.from_bytes(content[at : at + 1])
    if first < 0x80:
        return first, at + 1
    end = at + 1 + (first & 0x7F)
    return int.from_bytes(content[at + 1 : end]), end

"""The child process that unpacks one file of an uploaded archive, its standard input.

    unpacking.py OFFSET PACKED_BYTES SIZE METHOD CRC

The first child has told these numbers (`json_files.py`). It writes nothing if they do not fit what is there.
"""

import sys
import zipfile
import zlib


def main() -> None:
    offset, packed_bytes, size, method, crc = map(int, sys.argv[1:])
    sys.stdin.buffer.seek(offset)
    content = sys.stdin.buffer.read(packed_bytes)
    if method == zipfile.ZIP_DEFLATED:
        content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(content, size + 1)
    if len(content) == size and zlib.crc32(content) == crc:
        sys.stdout.buffer.write(content)

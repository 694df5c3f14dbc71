"""Free memory between what stays in the heap goes back to the system."""

import sys

import pytest

from tests.support.manage import run_manage

# Objects over 512 bytes come from malloc; one in a hundred stays and keeps the heap from shrinking.
CODE = """
import asyncio, re
from pathlib import Path
from chatsite.server.process import trim_memory
own = lambda: int(re.search(r"RssAnon:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
pieces = [bytes(2000) for _ in range(20_000)]
kept = pieces[::100]
full = own()
del pieces
before = own()
asyncio.run(trim_memory())
print(full - before < 10_000, before - own() > 25_000)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc has malloc_trim")
def test_free_pages_amid_the_heap_are_returned() -> None:
    assert run_manage("shell", "-v0", "-c", CODE, afresh=True).stdout == "True True\n"

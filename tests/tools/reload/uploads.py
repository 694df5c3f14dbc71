"""People who add files while workers are replaced, as the page does: slowly, and without a second try."""

import asyncio
import hashlib
import random
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import httpx

from tests.files import documents, pictures

DOCUMENT_BYTES = 10_000_000
PIECE_BYTES = 65_536
UPLOAD_SECONDS = 2.0  # for the body of one upload, on a usual line
SEEING = "@cf/google/gemma-4-26b-a4b-it"
BOUNDARY = "reload"


@dataclass(frozen=True, slots=True)
class File:
    """A file to add, with the digest that it has to have afterwards; "" where it is encoded anew."""

    name: str
    content: bytes
    digest: str

    @property
    def form(self) -> bytes:
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{self.name}"\r\n\r\n'
        return head.encode() + self.content + f"\r\n--{BOUNDARY}--\r\n".encode()


def document(number: int) -> File:
    """A text document of 10 MB, most of which is a picture that nobody reads."""
    noise = random.Random(number).randbytes(DOCUMENT_BYTES)
    content = documents.docx(f"The number is {number}.", word__media__noise=noise)
    return File(f"{number}.docx", content, hashlib.sha256(content).hexdigest())


def picture(number: int) -> File:
    return File(f"{number}.jpg", pictures.noise(1_000 + number % 100, 1_000), "")


@dataclass(slots=True)
class Uploader:
    """One person who adds a file after the other. `on_accepted` gets a model and the id, to ask about it."""

    http: httpx.AsyncClient
    counts: Counter[str]
    on_accepted: Callable[[str, str], object]
    seconds: float = UPLOAD_SECONDS
    accepted: list[tuple[str, File]] = field(default_factory=list)  # with its address

    async def work(self, enough: asyncio.Event, number: int) -> None:
        while not enough.is_set():
            file = await asyncio.to_thread((document, picture)[number % 2], number)
            try:
                await self._add(file)
            except httpx.ConnectError:
                self.counts["uploads refused"] += 1
            except httpx.TransportError:
                self.counts["uploads broken"] += 1
            number += 2 if number % 4 < 2 else 1
            await asyncio.sleep(0.1)

    async def look(self) -> None:
        """Ask for every file that was accepted."""
        for url, file in self.accepted:
            response = await self.http.get(url)
            same = not file.digest or hashlib.sha256(response.content).hexdigest() == file.digest
            self.counts["files lost"] += not (response.status_code == 200 and same)

    async def _add(self, file: File) -> None:
        self.counts["uploads"] += 1
        form = file.form
        headers = {
            "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
            "Content-Length": str(len(form)),
            "Accept": "application/json",
        }
        response = await self.http.post("/attachments/", content=self._slowly(form), headers=headers)
        if response.status_code == 201:
            told = response.json()
            self.accepted.append((told["url"], file))
            self.on_accepted(SEEING, str(uuid.UUID(told["id"])))
        elif response.status_code in (429, 503) and "Retry-After" in response.headers:
            self.counts["uploads to be tried again"] += 1
        else:
            self.counts["uploads with an error"] += 1

    async def _slowly(self, form: bytes) -> AsyncIterator[bytes]:
        pause = self.seconds * PIECE_BYTES / len(form)
        for at in range(0, len(form), PIECE_BYTES):
            yield form[at : at + PIECE_BYTES]
            await asyncio.sleep(pause)

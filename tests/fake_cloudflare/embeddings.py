"""Embeddings of texts: what Cloudflare's models take, and what they refuse.

The vectors are made up: texts of words that mean the same are alike, in the few groups below.
https://developers.cloudflare.com/workers-ai/models/bge-m3/
"""

import math
import re
from hashlib import blake2b
from typing import Any

from tests.fake_cloudflare.errors import error
from tests.fake_cloudflare.models import envelope

MODELS = {
    "@cf/baai/bge-m3": 1024,
    "@cf/qwen/qwen3-embedding-0.6b": 1024,
    "@cf/google/embeddinggemma-300m": 768,
}
MOST_TEXTS = 100
LONGEST_TEXT = 8_192 * 4  # bytes
LONGEST_REQUEST = 60_000 * 4
SAME = [{"holiday", "holidays", "vacation", "leave"}, {"car", "cars", "vehicle", "automobile"}]
BROKEN = "fake: broken vectors"
BUSY = "fake: busy vectors"


def embeddings(model: str, body: dict[str, Any]) -> tuple[int, object]:
    """Return the status and the body of the response."""
    texts = body.get("text")
    texts = [texts] if isinstance(texts, str) else texts
    if not isinstance(texts, list) or not all(isinstance(each, str) and each for each in texts):
        return error(5006, message="AiError: AiError: Bad input: Error: Type mismatch of '/text'")
    if not 1 <= len(texts) <= MOST_TEXTS:
        return error(5006, message=f"AiError: AiError: Bad input: Error: '/text' must have 1 to {MOST_TEXTS}")
    sizes = [len(each.encode()) for each in texts]
    if max(sizes) > LONGEST_TEXT or sum(sizes) > LONGEST_REQUEST:
        return error(3030, message="AiError: AiError: This model's maximum context length was exceeded")
    if any(BUSY in each for each in texts):
        return error(3040)
    vectors = [vector(each, MODELS[model]) for each in texts]
    if any(BROKEN in each for each in texts):
        vectors = vectors[:-1]
    return 200, envelope({"shape": [len(vectors), MODELS[model]], "data": vectors, "pooling": "cls"})


def vector(text: str, dimensions: int) -> list[float]:
    found = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()):
        meaning = next((min(group) for group in SAME if word in group), word)
        place = int.from_bytes(blake2b(meaning.encode(), digest_size=4).digest(), "big") % dimensions
        found[place] += 1.0
    length = math.sqrt(sum(value * value for value in found)) or 1.0
    return [value / length for value in found]

"""Each module that stores the text of a message or a title also indexes it."""

import re
from pathlib import Path

import chat

ROOT = Path(chat.__file__).parent
STORES = re.compile(
    r"\b(Message|Conversation)\.objects\.(bulk_create|create|bulk_update)\(|\.run\.finish\(|\brun\.finish\("
    r"|\bfound\.finish\(|\binsert\(\*plan|\.update\([^)]*\b(text|title)=|\.save\(update_fields=\[\"text\""
)
EXEMPT = {
    "models/run.py",  # its callers index
    "conversations/changes.py",  # its bulk_update writes times only
}


def test_each_module_that_stores_text_uses_the_index() -> None:
    modules = [path for path in ROOT.rglob("*.py") if "migrations" not in path.parts]
    storing = {path for path in modules if STORES.search(path.read_text("utf-8"))}
    names = {str(path.relative_to(ROOT)) for path in storing if "index." not in path.read_text("utf-8")}
    assert {"conversations/turns/store.py", "ownership/recovery.py", "conversations/titles.py"} <= {
        str(path.relative_to(ROOT)) for path in storing
    }
    assert names - EXEMPT == set()

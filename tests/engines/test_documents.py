"""A document in Firefox and in WebKit: chosen, sent, its text read, and there again after a reload."""

from pathlib import Path

from tests.e2e.chat_page import question
from tests.engines.chat_page import ChatPage
from tests.files import documents

SENT = "document.querySelector('.question .documents a')?.textContent.includes('report.pdf')"
TEXT = "document.querySelector('#page-2')?.textContent.includes('Porto spent 900 euros.')"


def test_a_document_is_chosen_sent_and_kept(chat: ChatPage, tmp_path: Path) -> None:
    report = tmp_path / "report.pdf"
    report.write_bytes(documents.pdf("Lisbon spent 4200 euros.", "Porto spent 900 euros."))
    chat.browser.choose_files("#files", report)
    chat.browser.sees("link", "View text of report.pdf")
    chat.ask(question("words tokens=3", "What did Porto spend?"))
    chat.ended()
    chat.browser.wait_until(SENT)
    chat.browser.misses("button", "Remove report.pdf")
    chat.browser.reload()
    chat.browser.wait_until(SENT)
    chat.goto(chat.browser.evaluate("document.querySelector('.question .documents a').getAttribute('href')"))
    chat.browser.wait_until(TEXT)

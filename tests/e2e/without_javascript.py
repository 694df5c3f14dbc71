"""Send a message with JavaScript off."""

from tests.e2e.chat_page import ChatPage


def ask(chat: ChatPage, text: str) -> None:
    """Send a message and wait for the conversation's address."""
    chat.box.fill(text)
    sent(chat)
    chat.has_address()


def sent(chat: ChatPage) -> None:
    """Press Send and wait for the next page, which may look like the one before."""
    with chat.page.expect_navigation():
        chat.send.click()

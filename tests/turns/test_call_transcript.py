"""API calls recorded as conversations."""

from chat.conversations.turns.call_transcript import CallTranscript
from chat.models import User
from chat.upstream.catalog import LlmModel
from chat.upstream.chat_request import ChatRequest


def test_calls_of_tools_are_text_in_either_shape() -> None:
    calls = [
        {"id": "a", "type": "function", "function": {"name": "now", "arguments": "{}"}},
        {"id": "b", "type": "custom", "custom": {"name": "shell", "input": "ls"}},
    ]
    messages = [
        {"role": "user", "content": "Look"},
        {"role": "assistant", "content": "", "tool_calls": calls},
    ]
    request = ChatRequest(messages, LlmModel("lab", "L", 8_000), max_tokens=9)
    [_question, called, _reply] = CallTranscript(User(), request).messages
    assert '"name": "now",\n  "arguments": "{}"' in called.text
    assert '"name": "shell",\n  "input": "ls"' in called.text

"""Limits that models name in their errors, in recorded wordings."""

import pytest

from chat.upstream.error_bodies import ModelLimits, is_quoted, parse_limits
from tests.fake_cloudflare.errors import ERRORS


@pytest.mark.parametrize(
    ("message", "limits"),
    [
        (ERRORS[3030][1], ModelLimits(window=60_000)),
        (ERRORS[5021][1], ModelLimits(window=32_000)),
        (
            "Requested token count exceeds the model's maximum context length of 256000 tokens. You requested"
            " a total of 256878 tokens: 31216 tokens from the input messages and 225662 tokens for the "
            "completion.",
            ModelLimits(window=256_000),
        ),
        (
            "max_completion_tokens is too large: 262144. This model supports at most 256000 completion "
            "tokens.",
            ModelLimits(output=256_000),
        ),
        (
            "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
            ModelLimits(window=4_096),
        ),
        ("This model's maximum context length is 131,072 tokens.", ModelLimits(window=131_072)),
        ("", ModelLimits()),
        ("Sequence too long", ModelLimits()),
        ("AiError: Request is too large", ModelLimits()),
        ("Max context reached 80030 tokens", ModelLimits()),
        ("maximum context length of 0 tokens", ModelLimits()),
        ("maximum context length of 12 tokens", ModelLimits()),
        ("maximum context length of " + "9" * 16 + " tokens", ModelLimits()),
        ("maximum context length of many tokens", ModelLimits()),
        ("It supports only 60000 people.", ModelLimits()),
    ],
)
def test_a_limit_that_is_said_is_read_and_none_is_made_up(message: str, limits: ModelLimits) -> None:
    assert parse_limits(message) == limits


WINDOW = "maximum context length of 512 tokens"


@pytest.mark.parametrize(
    ("text", "sent", "quoted"),
    [
        (f"The prompt exceeds the {WINDOW}", "hello", False),
        (f"The prompt exceeds the {WINDOW}", f"What is a {WINDOW}?", True),
        (f"No tool '{WINDOW}'", [{"tools": [{"name": WINDOW}]}], True),
        (f"The prompt exceeds the {WINDOW}", "maximum context length of 4096 tokens", False),
        ("Invalid input", "Invalid input", False),
        ("You have used up your daily free allocation", "hello", False),
        ("Type mismatch of '/daily free allocation'", [{"tools": {"daily free allocation": 1}}], True),
        ("5028: This model was deprecated", "hello", False),
        ("Input should be 'low' or 'high', not '5028: a'", {"reasoning_effort": "5028: a"}, True),
        (f"The {WINDOW} is 4006: a", "4006: a", True),
        (
            "Invalid value: 'maximum context \"x\" supports only 600'",
            ['maximum context "x" supports only 600'],
            True,
        ),
        ("got 'maximum context\\nsupports only 600'", ["maximum context\nsupports only 600"], True),
        ("got maximum context \\\\ supports only 600", ["maximum context \\ supports only 600"], True),
        ("maximum context … supports only 600", [f"maximum context {'a' * 45} supports only 600"], True),
        (
            "not 'maximum context', nor ' supports only 600'",
            {"a": "maximum context", "b": " supports only 600"},
            True,
        ),
        ("maximum context supports only 600", [f"maximum context supports only {600_000}"], True),
        ("maximum context: supports only 60,000", [{"maximum context": 60_000}], True),
    ],
)
def test_a_limit_that_the_request_names_itself_is_only_quoted(text: str, sent: object, quoted: bool) -> None:
    assert is_quoted(text, "", sent) is quoted


@pytest.mark.parametrize(
    ("param", "quoted"),
    [("max_tokens", False), ("messages", False), ("messages[0].content", False), ("tools[0]", True)],
)
def test_a_limit_is_said_of_the_prompt_or_the_reply(param: str, quoted: bool) -> None:
    assert is_quoted(f"The prompt exceeds the {WINDOW}", param, "hello") is quoted

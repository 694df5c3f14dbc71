"""The fields of a call's body, for each kind of server, and how each is refused."""

import base64
import json
from typing import Any

import pytest

from chat.api.calls import reply_limit
from chat.api.messages import check_tool_call_ids
from chat.api.picture_parts import NotBase64, check_pictures, parse_data_url
from chat.api.refusals import InvalidField
from chat.api.request_body import CompletionParams, parse_params
from chat.exceptions import PayloadTooLarge
from chat.upstream.catalog import LlmModel, Provider
from chat.upstream.chat_request import messages_for_openai, messages_for_workers_ai
from chat.upstream.pictures import PromptPicture
from chat.upstream.providers.openai_compatible import reads_reasoning
from tests.files import pictures

HOSTED = LlmModel("@cf/a/b", "B", 8_000, vision=True)
GATEWAY = LlmModel("openai/gpt-5", "G", 8_000, vision=True, host=Provider.GATEWAY)
ENDPOINT = LlmModel("lab", "L", 8_000, vision=True, host=Provider.ENDPOINT)
LOCAL = LlmModel("local/x", "X", 8_000, local=True)
SEARCH = LlmModel("ai-search/x", "S", 8_000, host=Provider.AI_SEARCH)
CLOSED, OPEN = (HOSTED, LOCAL, SEARCH), (ENDPOINT, GATEWAY)
QUESTION = {"messages": [{"role": "user", "content": "hello"}]}
TOOL = {"type": "function", "function": {"name": "weather"}}


def read(model: LlmModel = ENDPOINT, **fields: Any) -> CompletionParams:
    return parse_params({"model": model.id, **QUESTION, **fields}, model)


def refused(model: LlmModel, **fields: Any) -> tuple[str, str]:
    """The field that is refused, and OpenAI's code for that."""
    with pytest.raises(InvalidField) as error:
        read(model, **fields)
    return error.value.param, error.value.code


def message(sent: dict[str, Any]) -> dict[str, Any]:
    """The message as a server of OpenAI's API gets it."""
    found = read(messages=[sent, *QUESTION["messages"]]).messages
    return messages_for_openai(found, reasoning=True)[0]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("min_p", 0.05), ("thinking", {"type": "disabled"}), ("enable_thinking", False),
        ("guided_regex", "a+"),
        ("reasoning", {"effort": "low"}), ("structured_outputs", {"json": {}}), ("best_of", 2),
        ("echo", True),
        ("prediction", {"type": "content", "content": "x"}), ("service_tier", "flex"), ("verbosity", "low"),
        ("web_search_options", {"search_context_size": "low"}), ("guided_json", {"type": "object"}),
        ("repeat_penalty", 1.1), ("mirostat", 2), ("typical_p", 0.9), ("unheard_of", 7), ("suffix", "x"),
        ("max_output_tokens", 5), ("ignore_eos", True), ("skip_special_tokens", False), ("transforms", ["x"]),
    ],
)  # fmt: skip
def test_a_field_is_passed_on_or_refused_by_name(field: str, value: Any) -> None:
    for model in OPEN:
        assert read(model, **{field: value}).parameters == {field: value}
    for model in CLOSED:
        if model is LOCAL and field in ("min_p", "typical_p", "repeat_penalty"):
            assert read(model, **{field: value}).parameters == {field: value}
            continue
        with pytest.raises(InvalidField) as error:
            read(model, **{field: value})
        assert (error.value.param, error.value.status) == (field, 400)
        assert error.value.code in ("unsupported_parameter", "unknown_parameter")
        assert f"“{field}”" in error.value.message


@pytest.mark.parametrize(
    "fields",
    [
        {"user": "u"}, {"metadata": {"a": "b"}}, {"store": True}, {"safety_identifier": "x"},
        {"prompt_cache_key": "x"}, {"prompt_cache_retention": "24h"},
    ],
)  # fmt: skip
def test_a_field_without_an_effect_on_the_reply_is_taken_by_all(fields: dict[str, Any]) -> None:
    for model in OPEN:
        assert read(model, **fields).parameters == fields
    for model in CLOSED:
        assert read(model, **fields).parameters == {}


@pytest.mark.parametrize(
    "fields",
    [
        {"min_p": None, "unheard_of": None}, {"top_a": 0}, {"best_of": 1}, {"echo": False}, {"suffix": ""},
        {"service_tier": "auto"}, {"verbosity": "medium"}, {"functions": []}, {"function_call": "none"},
        {"logprobs": False, "top_logprobs": 0}, {"modalities": ["text"]}, {"n": 1}, {"unheard_of": []},
        {"stream_options": {"include_obfuscation": False}}, {"stream_options": None}, {"audio": None},
        {"tools": [], "tool_choice": "auto"}, {"tools": None, "tool_choice": "none"},
        {"response_format": {}},
        {"stop": []}, {"stop": None}, {"stop": ""}, {"stop": [None, ""]}, {"logit_bias": {}}, {"lora": ""},
        {"top_k": 0}, {"top_k": -1}, {"temperature": None}, {"tool_choice": None},
        {"chat_template_kwargs": {}},
    ],
)  # fmt: skip
def test_defaults_are_taken_and_left_out(fields: dict[str, Any]) -> None:
    for model in CLOSED:
        assert read(model, **fields).parameters == {}
    assert {"stop", "tools", "top_k"}.isdisjoint(read(**fields).parameters)


@pytest.mark.parametrize(
    ("fields", "most"),
    [
        ({"max_tokens": -1}, None), ({"max_tokens": -2}, None), ({"max_tokens": 100.0}, 100),
        ({"max_completion_tokens": 5, "max_tokens": 9}, 5),
        ({"max_completion_tokens": -1, "max_tokens": 9}, 9),
        ({"max_tokens": None}, None), ({"max_tokens": 10_000_000}, 10_000_000),
    ],
)  # fmt: skip
def test_the_limit_of_a_reply(fields: dict[str, Any], most: int | None) -> None:
    assert read(**fields).max_tokens == most


@pytest.mark.parametrize(
    ("text", "wanted", "limit"),
    [
        ("hello", None, 2_666),  # a third of the window
        ("0123456789 " * 600, None, 1_796),  # the room that is left
        ("0123456789 " * 800, None, 1_024),
        ("0123456789 " * 800, 2_000, 2_000),
        ("hello", 9_000, 9_000),
        ("hello", 5, 5),
    ],
)
def test_what_is_asked_for_is_not_cut(text: str, wanted: int | None, limit: int) -> None:
    params = read(messages=[{"role": "user", "content": text}], max_tokens=wanted)
    assert reply_limit(params, ENDPOINT) == limit


@pytest.mark.parametrize(
    ("fields", "param", "code"),
    [
        ({"temperature": "hot"}, "temperature", "invalid_type"),
        ({"temperature": True}, "temperature", "invalid_type"),
        ({"temperature": 9}, "temperature", "decimal_above_max_value"),
        ({"top_p": -1}, "top_p", "decimal_below_min_value"),
        ({"temperature": 10**300}, "temperature", "decimal_above_max_value"),
        ({"max_tokens": 0}, "max_tokens", "integer_below_min_value"),
        ({"max_tokens": 10**8}, "max_tokens", "integer_above_max_value"),
        ({"max_tokens": "100"}, "max_tokens", "invalid_type"),
        ({"max_tokens": 1.5}, "max_tokens", "invalid_type"),
        ({"max_tokens": True}, "max_tokens", "invalid_type"),
        ({"seed": 10**30}, "seed", "integer_above_max_value"),
        ({"stream": "yes"}, "stream", "invalid_type"),
        ({"stream": 1}, "stream", "invalid_type"),
        ({"n": 2}, "n", "unsupported_value"),
        ({"stop": [1]}, "stop[0]", "invalid_type"),
        ({"stop": ["x"] * 17}, "stop", "array_above_max_length"),
        ({"stop": "x" * 1_001}, "stop", "string_above_max_length"),
        ({"tools": [TOOL] * 129}, "tools", "array_above_max_length"),
        ({"tools": ["x"]}, "tools[0]", "invalid_type"),
        ({"tools": [TOOL], "tool_choice": "some"}, "tool_choice", "invalid_value"),
        ({"tool_choice": "required"}, "tool_choice", "invalid_value"),
        ({"response_format": "json"}, "response_format", "invalid_type"),
        ({"response_format": {"json_schema": {}}}, "response_format.type", "missing_required_parameter"),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema",
         "missing_required_parameter"),
        ({"stream_options": {"include_obfuscation": True}}, "stream_options.include_obfuscation",
         "unsupported_parameter"),
        ({"stream_options": {"continuous_usage_stats": True}}, "stream_options.continuous_usage_stats",
         "unsupported_parameter"),
        ({"options": {"prefix": "x"}}, "options.prefix", "unknown_parameter"),
        ({"logprobs": True}, "logprobs", "unsupported_parameter"),
        ({"functions": [{"name": "f"}]}, "functions", "unsupported_parameter"),
        ({"modalities": ["text", "audio"]}, "modalities", "unsupported_parameter"),
        ({"audio": {"voice": "alloy", "format": "wav"}}, "audio", "unsupported_parameter"),
        ({"function_call": {"name": "weather"}}, "function_call", "unsupported_parameter"),
        ({"image": [1, 2, 3]}, "image", "unsupported_parameter"),
        ({"requests": [{"prompt": "x"}]}, "requests", "unsupported_parameter"),
        ({"top_logprobs": 3}, "top_logprobs", "unsupported_parameter"),
        ({"models": ["openai/gpt-5-pro"]}, "models", "unsupported_parameter"),
        ({"api_base": "http://10.0.0.1"}, "api_base", "unsupported_parameter"),
        ({"extra_headers": {}}, "extra_headers", "unsupported_parameter"),
        ({"messages": []}, "messages", "empty_array"),
        ({"messages": None}, "messages", "missing_required_parameter"),
        ({"messages": "hello"}, "messages", "invalid_type"),
        ({"messages": ["x"]}, "messages[0]", "invalid_type"),
        ({"messages": [{"content": "x"}]}, "messages[0].role", "missing_required_parameter"),
        ({"messages": [{"role": "king", "content": "x"}]}, "messages[0].role", "invalid_value"),
        ({"messages": [{"role": "user", "content": 7}]}, "messages[0].content", "invalid_type"),
        ({"messages": [{"role": "user", "content": "a\0"}]}, "messages[0].content", "invalid_value"),
        ({"messages": [{"role": "user", "content": [{"type": "video"}]}]}, "messages[0].content[0].type",
         "invalid_value"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages[0].content[0].text",
         "missing_required_parameter"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": 7}}]}]},
         "messages[0].content[0].image_url.url", "invalid_type"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": "cat.png"}]}]},
         "messages[0].content[0].image_url", "invalid_value"),
        ({"messages": [{"role": "assistant", "tool_calls": [{"function": {}}]}]},
         "messages[0].tool_calls[0].function.name", "missing_required_parameter"),
        ({"messages": [{"role": "assistant", "tool_calls": [{"id": "1"}]}]},
         "messages[0].tool_calls[0].function.name", "missing_required_parameter"),
        ({"messages": [{"role": "assistant", "content": "x", "function_call": {"name": "f"}}]},
         "messages[0].function_call", "unsupported_parameter"),
        ({"x" * 5_000: 1, "min_p": None}, None, "unknown_parameter"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_field_in_openai_s_words(
    fields: dict[str, Any], param: str | None, code: str
) -> None:
    with pytest.raises(InvalidField) as error:
        read(HOSTED if param is None else ENDPOINT, **fields)
    assert error.value.code == code
    assert error.value.param == (param or "x" * 100)
    assert len(error.value.message) < 400


def test_other_formats_of_replies_are_their_server_s() -> None:
    wanted = {"type": "structural_tag", "structures": []}
    for model in OPEN:
        assert read(model, response_format=wanted).parameters == {"response_format": wanted}
    for model in CLOSED:
        assert refused(model, response_format=wanted) == ("response_format.type", "invalid_value")


@pytest.mark.parametrize(
    ("role", "name", "value"),
    [
        ("user", "weird", 1), ("user", "cache_breakpoint", True), ("system", "priority", "high"),
        ("assistant", "tool_plan", "First…"), ("assistant", "weight", 1), ("assistant", "partial", True),
        ("assistant", "prefix", True), ("tool", "is_error", True), ("tool", "tool_name", "f"),
        ("user", "x" * 90, {"a": 1}), ("user", "images", ["aGk="]), ("assistant", "audio", {"id": "a"}),
    ],
)  # fmt: skip
def test_a_message_s_field_is_passed_on_or_refused(role: str, name: str, value: Any) -> None:
    call = {"tool_call_id": "c"} if role == "tool" else {}
    sent = [*QUESTION["messages"], {"role": role, "content": "x", name: value, **call}]
    for model in OPEN:
        assert messages_for_openai(read(model, messages=sent).messages, reasoning=False)[1][name] == value
    for model in CLOSED:
        assert refused(model, messages=sent) == (f"messages[1].{name}", "unknown_parameter")


def test_fields_that_clients_replay_are_taken_by_all() -> None:
    replayed = {
        "role": "assistant", "content": "x", "name": "bot", "audio": None, "refusal": None,
        "annotations": [{"type": "url_citation"}], "id": "m", "status": "completed", "type": "message",
        "function_call": None, "tool_calls": None, "reasoning": "Hm.", "reasoning_details": [{"text": "Hm."}],
        "thinking_blocks": [{}], "cache_control": {"type": "ephemeral"}, "provider_specific_fields": {"a": 1},
        "images": [{"type": "image_url"}], "parsed": {"a": 1}, "unheard_of": None,
    }  # fmt: skip
    for model in (*OPEN, *CLOSED):
        [found, _question] = read(model, messages=[replayed, *QUESTION["messages"]]).messages
        assert set(found) == {"role", "content", "reasoning", "extras"}
        assert found["extras"].keys().isdisjoint(("annotations", "id", "images", "unheard_of"))


def test_a_call_has_no_more_fields_than_anybody_needs() -> None:
    with pytest.raises(InvalidField):
        read(**{f"field{number}": 1 for number in range(300)})


def test_a_result_of_a_tool_names_its_call() -> None:
    sent = [*QUESTION["messages"], {"role": "tool", "content": "x"}]
    with pytest.raises(InvalidField) as error:
        check_tool_call_ids(read(messages=sent).messages)
    assert error.value.param == "messages[1].tool_call_id"


@pytest.mark.parametrize(
    ("sent", "got"),
    [
        ({"role": "assistant", "content": None, "refusal": "No."}, "No."),
        ({"role": "assistant", "content": "", "refusal": "No."}, "No."),
        ({"role": "assistant", "content": "Yes.", "refusal": None}, "Yes."),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}, "No."),
        ({"role": "assistant", "content": [{"type": "output_text", "text": "Hi", "annotations": []}]}, "Hi"),
        ({"role": "user", "content": [{"type": "input_text", "text": "Hi"}, {"type": "text", "text": "!"}]},
         "Hi!"),
        ({"role": "assistant", "content": []}, ""),
        ({"role": "user", "content": None}, ""),
        ({"role": "assistant", "content": "x", "audio": None, "annotations": [], "id": "7"}, "x"),
        ({"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "ok"}]}, "ok"),
        ({"role": "developer", "content": "Be brief."}, "Be brief."),
    ],
)  # fmt: skip
def test_texts_of_messages(sent: dict[str, Any], got: str) -> None:
    found = message(sent)
    assert found["content"] == got
    assert set(found) <= {"role", "content", "tool_call_id"}


@pytest.mark.parametrize(
    ("arguments", "got"),
    [
        ({"city": "Oslo"}, '{"city": "Oslo"}'),
        ({"city": "Ålesund"}, '{"city": "Ålesund"}'),
        ('{"city": "Oslo"}', '{"city": "Oslo"}'),
        ("", "{}"),
        (None, "{}"),
        ("null", "{}"),
        ('{"city": "Os', "{}"),
        ('{"a": tru', "{}"),
        ('{"a":', "{}"),
        ('{"text":"one\ntwo\t"}', '{"text": "one\\ntwo\\t"}'),
        (r'{"re":"\d+ \\d \" \u00e9"}', r'{"re": "\\d+ \\d \" é"}'),
        ("[" * 100_000, "{}"),
        ({}, "{}"),
    ],
)
def test_arguments_of_earlier_calls_are_sent_as_json(arguments: Any, got: str) -> None:
    function = {"name": "weather", "arguments": arguments}
    extra = {"extra_content": {"google": {"thought_signature": "s"}}}
    nested = {"id": "c", "type": "function", "function": function, **extra}
    flat = {"id": "c", **function, **extra}
    for call in (nested, flat):
        found = message({"role": "assistant", "content": None, "tool_calls": [call]})["tool_calls"]
        assert found == [
            {"id": "c", "type": "function", "function": {"name": "weather", "arguments": got}, **extra}
        ]


@pytest.mark.parametrize(
    "arguments",
    ["{city: 1}", '{"a": 1}}', '{"a": 1,}', '{"a": 1}<|eot_id|>', "'a'", '{"a": ' + "9" * 5_000 + "}"],
)
def test_arguments_that_cannot_be_read_are_sent_as_text(arguments: str) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    (found,) = message({"role": "assistant", "content": None, "tool_calls": [call]})["tool_calls"]
    assert json.loads(found["function"]["arguments"]) == {"raw": arguments}


def test_calls_of_custom_tools_are_for_openai_s_servers() -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "shell", "input": "ls"}}
    sent = [*QUESTION["messages"], {"role": "assistant", "content": None, "tool_calls": [call]}]
    assert messages_for_openai(read(messages=sent).messages, reasoning=True)[1]["tool_calls"] == [call]
    for model in CLOSED:
        assert refused(model, messages=sent) == ("messages[1].tool_calls[0].custom", "unsupported_parameter")


REASONED = {
    "role": "assistant",
    "content": "",
    "reasoning_content": "Hm.",
    "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}],
    "tool_calls": [{"id": "c", **TOOL}],
    "extra_content": {"google": {"thought_signature": "s"}},
    "name": "bot",
}


def test_reasoning_goes_back_to_the_servers_that_read_it() -> None:
    messages = read(messages=[REASONED, *QUESTION["messages"]]).messages
    [first, _question] = messages_for_openai(messages, reasoning=True)
    wanted = ("reasoning_content", "reasoning_details", "extra_content", "name")
    assert {name: first[name] for name in wanted} == {name: REASONED[name] for name in wanted}
    assert "reasoning" not in first
    [strict, _question] = messages_for_openai(messages, reasoning=False)
    assert set(strict) == {"role", "content", "tool_calls", "extra_content", "name"}
    [thinking, _question] = messages_for_workers_ai(messages, LlmModel("@cf/a/b", "B", 8_000, reasoning=True))
    assert set(thinking) == {"role", "content", "tool_calls", "reasoning"}
    [plain, _question] = messages_for_workers_ai(messages, HOSTED)
    assert set(plain) == {"role", "content", "tool_calls"}


@pytest.mark.parametrize(
    ("provider", "reads"),
    [
        ("127.0.0.1", True), ("api.deepseek.com", True), ("api.moonshot.ai", True), ("openrouter.ai", True),
        ("deepseek", True), ("google-ai-studio", True), ("api.openai.com", False), ("api.groq.com", False),
        ("x.openai.azure.com", False), ("api.mistral.ai", False), ("mistral", False), ("groq", False),
    ],
)  # fmt: skip
def test_servers_that_refuse_reasoning_get_none(provider: str, reads: bool) -> None:
    assert reads_reasoning(provider) is reads


# Pictures

JPEG = base64.b64encode(pictures.jpeg()).decode()
PNG_TYPE = "data:image/png;base64," + JPEG


def picture(url: Any, model: LlmModel = ENDPOINT, **more: Any) -> PromptPicture:
    part = {"type": "image_url", "image_url": {"url": url, **more}}
    messages = read(model, messages=[{"role": "user", "content": [part]}]).messages
    check_pictures(messages, model)
    found = messages[0]["parts"][0]
    assert isinstance(found, PromptPicture)
    return found


@pytest.mark.parametrize(
    "url",
    [
        "data:image/jpeg;base64," + JPEG,
        "data:image/jpeg;charset=utf-8;base64," + JPEG,
        "data:image/jpeg;name=a.jpg;charset=utf-8;base64," + JPEG,
        "DATA:IMAGE/JPG;BASE64," + JPEG,
        "data:image/jpeg;base64,\n"
        + "\r\n".join(JPEG[at : at + 76] for at in range(0, len(JPEG), 76))
        + "\n",
        "data:image/jpeg;base64," + JPEG.replace("+", "%2B").replace("/", "%2F").replace("=", "%3D"),
        "data:image/jpeg;base64," + JPEG.replace("+", "-").replace("/", "_").rstrip("="),
        "data:;base64," + JPEG,
        "data:application/octet-stream;base64," + JPEG,
        " data:image/jpeg; base64," + JPEG,
        PNG_TYPE,
    ],
)
def test_data_urls_are_read_as_programs_write_them(url: str) -> None:
    assert picture(url).url == "data:image/jpeg;base64," + JPEG


@pytest.mark.parametrize("data", ["!!!!", "A", "%%%", "AAAA*", "é"])
def test_what_is_no_base64_is_refused(data: str) -> None:
    with pytest.raises(NotBase64):
        parse_data_url("data:image/png;base64," + data)
    with pytest.raises(InvalidField):
        picture("data:image/png;base64," + data)


def test_other_data_urls() -> None:
    assert parse_data_url("data:,a%20b") == b"a b"
    assert parse_data_url("data:text/plain;base64,YQ") == b"a"
    assert parse_data_url("https://example.org/data:,x") is None
    assert parse_data_url("datum:,x") is None


@pytest.mark.parametrize("detail", ["auto", "low", "high"])
def test_the_detail_of_a_picture_is_passed_on(detail: str) -> None:
    found = picture("data:image/jpeg;base64," + JPEG, detail=detail)
    assert found.more == {"image_url": {"detail": detail}}


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/a.png?b=c@d",
        "http://8.8.8.8:81/",
        "https://b\u00fccher.de/\u00e9",
        "https://xn--e1a.xn--p1ai/",
    ],
)
def test_addresses_go_to_servers_that_fetch_them(address: str) -> None:
    for model in OPEN:
        assert picture(address, model).url == address
    with pytest.raises(InvalidField) as error:
        picture(address, HOSTED)
    assert error.value.param == "messages[0].content"
    assert "OpenAI’s API" in error.value.message


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "ftp://example.org/a.png", "javascript:1", "", "http://", "http://localhost/a.png",
        "http://127.0.0.1/a.png", "http://10.0.0.1/", "http://169.254.169.254/latest/meta-data", "http://[::1]/",
        "http://0x7f000001/", "http://2130706433/", "http://127.1/", "http://metadata.google.internal/",
        "http://printer.local/", "http://router/", "http://[::ffff:10.0.0.1]/", "http://[", "/a.png",
        "http://127.0.0.1\\@example.org/", "http://a@127.0.0.1/", "http://127.0.0.1 .example.org/",
        "http://127.0.0.1%2f.example.org/", "http://example.org\r\nX: y/", "http://example.org\t/a.png",
        "http://a.\uff4c\uff4f\uff43\uff41\uff4c/", "http://redis.default.svc/", "http://nas.home.arpa/",
        "http://[64:ff9b::a00:1]/", "http://239.255.255.250/", "http://[fec0::1]/", "http://168.63.129.16/",
        "http://[::ffff:0:127.0.0.1]/", "http://[::127.0.0.1]/", "http://x.alt/",
    ],
)  # fmt: skip
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(InvalidField):
        picture(url)


def test_only_bytes_limit_pictures() -> None:
    def many(model: LlmModel, url: str, count: int) -> None:
        part = {"type": "image_url", "image_url": {"url": url}}
        messages = [{"role": "user", "content": [part] * count}]
        check_pictures(read(model, messages=messages).messages, model)

    many(HOSTED, "data:;base64," + JPEG, 100)
    large = "data:;base64," + base64.b64encode(pictures.jpeg().ljust(4_000_000, b"\0")).decode()
    many(ENDPOINT, large, 2)
    with pytest.raises(PayloadTooLarge):
        many(HOSTED, large, 2)

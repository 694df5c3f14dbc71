"""Each model gets exactly the parameters it knows, within its own ranges."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.upstream import parameters, token_budget
from chat.upstream.catalog import LlmModel, bundled
from chat.upstream.providers.openai_compatible import LOCAL_SAMPLING
from tests.upstream.asking import ask, client, runs

LOCAL = LlmModel("local/a", "A", window=8_192, local=True)
THINKING_LOCAL = LlmModel("local/b", "B", window=8_192, local=True, reasoning=True)
UNKNOWN = LlmModel("@cf/somebody/new", "New", window=32_000, reasoning=True)
MODELS = {model.id: model for model in (*bundled(), LOCAL, THINKING_LOCAL, UNKNOWN)}
# All there is to choose, each beyond what most models take.
EVERYTHING: dict[str, parameters.Value] = {
    "thinking": False,
    "effort": "max",
    "max_tokens": 100,
    "temperature": 4.5,
    "top_p": 0.5,
    "top_k": 70,
    "repetition_penalty": 0.2,
    "frequency_penalty": -1.5,
    "presence_penalty": 1.5,
    "seed": 0,
}
OPENAI = {"temperature": 2, "top_p": 0.5, "seed": 1, "frequency_penalty": -1.5, "presence_penalty": 1.5}
CLASSIC = {
    "temperature": 4.5, "top_p": 0.5, "top_k": 50, "seed": 1, "repetition_penalty": 0.2,
    "frequency_penalty": -1.5, "presence_penalty": 1.5,
}  # fmt: skip
LLAMA_CPP = {
    "temperature": 2, "top_p": 0.5, "top_k": 70, "seed": 0, "repeat_penalty": 0.5,
    "frequency_penalty": -1.5, "presence_penalty": 1.5,
}  # fmt: skip
NOT_THINKING = {"chat_template_kwargs": {"enable_thinking": False}}

BODIES: dict[str, dict[str, Any]] = {
    "@cf/zai-org/glm-4.7-flash": OPENAI | NOT_THINKING,
    "@cf/google/gemma-4-26b-a4b-it": OPENAI | NOT_THINKING,
    "@cf/zai-org/glm-5.3": OPENAI | {"reasoning_effort": "max"},
    "@cf/zai-org/glm-5.3-flash": OPENAI | {"reasoning_effort": "max"},
    "@cf/zai-org/glm-5.2": OPENAI | {"reasoning_effort": "none"},
    "@cf/moonshotai/kimi-k2.6": OPENAI | {"reasoning_effort": "none"},
    "@cf/moonshotai/kimi-k2.7-code": OPENAI,
    "@cf/deepseek-ai/deepseek-v4-pro-0813": OPENAI | {"reasoning_effort": "none"},
    "@cf/nvidia/nemotron-3-120b-a12b": OPENAI
    | {"chat_template_kwargs": {"enable_thinking": False, "low_effort": False}},
    "@cf/qwen/qwen3.8-27b": OPENAI | {"reasoning_effort": "xhigh"},
    "@cf/openai/gpt-oss-20b": OPENAI | {"reasoning_effort": "high"},
    "@cf/meta/llama-3.3-70b-instruct-fp8-fast": CLASSIC,
    "@cf/qwen/qwq-32b": CLASSIC,
    "@cf/google/gemma-2b-it-lora": CLASSIC | {"frequency_penalty": 0},
    "local/a": LLAMA_CPP,
    "local/b": LLAMA_CPP | NOT_THINKING,
    "@cf/somebody/new": {"temperature": 2, "top_p": 0.5, "seed": 1},
}


@pytest.mark.parametrize("model", BODIES)
def test_the_body_holds_what_the_model_knows_and_nothing_else(model: str) -> None:
    assert parameters.to_request_body(MODELS[model], EVERYTHING) == BODIES[model]


@pytest.mark.parametrize("model", [name for name in BODIES if not name.startswith("local/")])
async def test_the_body_holds_the_sent_parameters(fake, model: str) -> None:
    llm_model = MODELS[model]
    async with client(fake) as made:
        await ask(made, "Hello", llm_model, max_tokens=70, user_parameters=EVERYTHING)
    [call] = runs(fake)
    messages = [{"role": "user", "content": "Hello"}]
    assert call["body"] == {"messages": messages, "max_tokens": 70, "stream": True} | BODIES[model]


@pytest.mark.parametrize("model", MODELS)
def test_nothing_chosen_is_nothing_sent(model: str) -> None:
    assert parameters.to_request_body(MODELS[model], {}) == {}


@pytest.mark.parametrize(
    ("model", "chosen", "made"),
    [
        ("@cf/deepseek-ai/deepseek-v4-flash-0731", {"effort": "low"}, {"reasoning_effort": "low"}),
        ("@cf/deepseek-ai/deepseek-v4-flash-0731", {"thinking": True}, {}),
        (
            "@cf/deepseek-ai/deepseek-v4-flash-0731",
            {"thinking": True, "effort": "medium"},
            {"reasoning_effort": "low"},
        ),
        ("@cf/zai-org/glm-5.2", {"effort": "low"}, {"reasoning_effort": "high"}),
        (
            "@cf/zai-org/glm-4.7-flash",
            {"thinking": True},
            {"chat_template_kwargs": {"enable_thinking": True}},
        ),
        (
            "@cf/nvidia/nemotron-3-120b-a12b",
            {"effort": "low"},
            {"chat_template_kwargs": {"low_effort": True}},
        ),
    ],
)
def test_thinking_is_told_as_the_model_understands_it(model: str, chosen, made) -> None:
    assert parameters.to_request_body(MODELS[model], chosen) == made


@pytest.mark.parametrize("model", MODELS)
def test_every_default_is_within_its_range(model: str) -> None:
    for parameter in parameters.supported_parameters(MODELS[model]):
        assert parameter.default is None or parameter.is_valid(parameter.default), parameter
        assert parameter.name in parameters.CHOSEN_PARAMETERS


def test_each_model_of_the_bundled_list_is_in_the_table() -> None:
    assert {model.id for model in bundled()} <= set(parameters.MODELS)


values = st.one_of(st.booleans(), st.integers(), st.floats(), st.sampled_from(parameters.LEVELS))


@given(
    st.sampled_from(sorted(MODELS)),
    st.dictionaries(st.sampled_from(sorted(parameters.CHOSEN_PARAMETERS)), values),
)
def test_whatever_may_be_chosen_fits_each_model(model: str, wild: dict[str, Any]) -> None:
    chosen = {
        name: value for name, value in wild.items() if parameters.CHOSEN_PARAMETERS[name].is_valid(value)
    }
    parameters.to_request_body(MODELS[model], chosen)
    for parameter in parameters.supported_parameters(MODELS[model]):
        if parameter.name in chosen:
            assert parameter.is_valid(parameter.clamp(chosen[parameter.name]))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", True), ("temperature", "0.5"), ("temperature", float("nan")), ("temperature", 5.1),
        ("top_p", 0), ("top_k", 2.5), ("thinking", 1), ("effort", "none"), ("effort", ["low"]),
        ("max_tokens", 0), ("seed", float("inf")), ("seed", -1),
    ],
)  # fmt: skip
def test_invalid_values_are_not_taken(name: str, value: object) -> None:
    assert not parameters.CHOSEN_PARAMETERS[name].is_valid(value)


def test_a_new_value_replaces_and_null_resets() -> None:
    chosen: dict[str, parameters.Value] = {"temperature": 0.5, "seed": 3}
    assert parameters.merge(chosen, {"seed": None, "top_k": 4}) == {"temperature": 0.5, "top_k": 4}
    assert chosen == {"temperature": 0.5, "seed": 3}


@pytest.mark.parametrize("model", MODELS)
def test_a_chosen_budget_may_be_larger_than_the_usual_one(model: str) -> None:
    llm_model, question = MODELS[model], [{"role": "user", "content": "Hello"}]
    assert (
        token_budget.fit(question, llm_model).max_tokens
        == token_budget.default_max_tokens(llm_model)
        <= token_budget.max_tokens_limit(llm_model)
    )
    assert token_budget.fit(question, llm_model, 10).max_tokens == 10
    assert token_budget.fit(
        question, llm_model, parameters.MAX_TOKENS
    ).max_tokens == token_budget.max_tokens_limit(llm_model)


def test_api_fields_are_renamed_for_the_model() -> None:
    sent = {"repetition_penalty": 1.2, "top_k": 5, "stop": "x"}
    assert parameters.to_provider_names(MODELS["local/a"], sent) == {
        "repeat_penalty": 1.2,
        "top_k": 5,
        "stop": "x",
    }
    assert parameters.to_provider_names(MODELS["@cf/meta/llama-3.2-1b-instruct"], sent) == {
        "repetition_penalty": 1.2,
        "top_k": 5,
    }
    assert parameters.to_provider_names(MODELS["@cf/zai-org/glm-4.7-flash"], sent) == {"stop": "x"}


def test_the_form_shows_what_the_local_model_is_sent_by_itself() -> None:
    shown = {parameter.path: parameter.default for parameter in parameters.LOCAL_PARAMETERS}
    assert LOCAL_SAMPLING.items() == {(name, shown[(name,)]) for name in LOCAL_SAMPLING}

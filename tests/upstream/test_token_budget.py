"""A prompt fits the model's window, and always has its most important parts."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.upstream import token_budget
from chat.upstream.catalog import LlmModel, bundled
from chat.upstream.errors import ErrorKind, UpstreamError

Message = dict[str, str]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
models = st.builds(
    LlmModel,
    id=st.just("@cf/a/b"),
    name=st.just("B"),
    window=st.integers(64, 4_000),
    max_output=st.none() | st.integers(1, 5_000),
    local=st.booleans(),
)


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """A system prompt or none, turns, and a new question; a turn whose reply is missing occurs as well."""
    system = draw(st.none() | texts)
    messages = [] if system is None else [{"role": "system", "content": system}]
    for question, reply in draw(st.lists(st.tuples(texts, st.none() | texts), max_size=12)):
        messages.append({"role": "user", "content": question})
        if reply is not None:
            messages.append({"role": "assistant", "content": reply})
    return [*messages, {"role": "user", "content": draw(texts)}]


def fit(messages: list[Message], model: LlmModel, reply: int | None) -> token_budget.Fit | None:
    """Fit the messages; None if they are refused."""
    try:
        return token_budget.fit(messages, model, reply)
    except UpstreamError:
        return None


def cost(messages: list[Message], model: LlmModel) -> int:
    return token_budget.estimate_tokens(messages, model)


@given(conversations(), models, st.none() | st.integers(1, 5_000))
def test_the_sent_prompt_always_fits(messages: list[Message], model: LlmModel, reply: int | None) -> None:
    if fitted := fit(messages, model, reply):
        assert cost(fitted.messages, model) + fitted.max_tokens <= model.window
        assert 1 <= fitted.max_tokens <= (model.max_output or token_budget.DEFAULT_MAX_TOKENS)
        assert reply is None or fitted.max_tokens <= reply


@given(conversations(), models, st.none() | st.integers(1, 5_000))
def test_system_prompt_and_new_message_are_never_dropped(
    messages: list[Message], model: LlmModel, reply: int | None
) -> None:
    if fitted := fit(messages, model, reply):
        system = [message for message in messages if message["role"] == "system"]
        assert fitted.messages[: len(system)] == system
        assert fitted.messages[-1] == messages[-1]


@given(conversations(), models)
def test_oldest_turns_are_dropped_up_to_a_question(messages: list[Message], model: LlmModel) -> None:
    if fitted := fit(messages, model, None):
        system = [message for message in messages if message["role"] == "system"]
        turns = messages[len(system) :]
        assert fitted.messages == system + turns[fitted.dropped :]
        assert fitted.messages[len(system)]["role"] == "user"


@given(conversations(), models)
def test_no_turn_is_left_out_that_would_have_fitted(messages: list[Message], model: LlmModel) -> None:
    if (fitted := fit(messages, model, None)) and fitted.dropped:
        system = [message for message in messages if message["role"] == "system"]
        turns = messages[len(system) :]
        earlier = next(i for i in range(fitted.dropped - 1, -1, -1) if turns[i]["role"] == "user")
        longer = system + turns[earlier:]
        assert cost(longer, model) + fitted.max_tokens > model.window


@given(conversations(), models, st.none() | st.integers(1, 5_000))
def test_too_long_only_if_no_room_is_left_for_a_reply(
    messages: list[Message], model: LlmModel, reply: int | None
) -> None:
    if fit(messages, model, reply) is None:
        needed = [message for message in messages if message["role"] == "system"] + messages[-1:]
        smallest = min(token_budget.MIN_REPLY_TOKENS, reply or token_budget.MIN_REPLY_TOKENS)
        assert cost(needed, model) + smallest > model.window


def user_message(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant_message(text: str) -> Message:
    return {"role": "assistant", "content": text}


def test_a_reply_that_is_to_be_continued_is_kept_at_the_end() -> None:
    model = LlmModel("@cf/a/b", "B", window=400)
    messages = [user_message("x" * 900), assistant_message("half a reply")]
    fitted = token_budget.fit(messages, model)
    assert fitted.messages[-1] == messages[-1]


def test_text_that_no_encoding_holds_is_measured_all_the_same() -> None:
    assert token_budget.fit([user_message("half a character: \ud83d")], bundled()[0]).dropped == 0


def test_too_long_a_question_is_refused_for_good() -> None:
    with pytest.raises(UpstreamError) as refused:
        token_budget.fit([user_message("x" * 10_000)], LlmModel("@cf/a/b", "B", window=1_000))
    assert (refused.value.kind, refused.value.permanent) == (ErrorKind.TOO_LONG, True)


def test_a_small_max_tokens_reserves_no_more_room() -> None:
    model = LlmModel("@cf/a/b", "B", window=120)
    assert token_budget.fit([user_message("x" * 300)], model, 10).max_tokens == 10


@pytest.mark.parametrize("model", bundled(), ids=lambda model: model.id)
def test_a_short_question_gets_the_whole_budget(model: LlmModel) -> None:
    fitted = token_budget.fit([user_message("Hello")], model)
    assert fitted.max_tokens == min(
        model.max_output or token_budget.DEFAULT_MAX_TOKENS,
        model.window // token_budget.DEFAULT_REPLY_DIVISOR,
    )
    assert fitted.dropped == 0


def test_ten_thousand_messages_are_cut_in_a_moment() -> None:
    turns = [
        message
        for _ in range(20_000)
        for message in (user_message("Why? " * 40), assistant_message("So. " * 40))
    ]
    began = time.thread_time()
    fitted = token_budget.fit([*turns, user_message("And now?")], bundled()[0])
    assert time.thread_time() - began < 1
    assert fitted.dropped > 0

"""The prompt: as much of the branch as fits, and the instruction to continue a reply that was cut off."""

import pytest

from chat.conversations.turns.branch import MAX_PROMPT_MESSAGES
from chat.conversations.turns.prompt import CONTINUE_INSTRUCTION, Prompts
from chat.exceptions import PayloadTooLarge
from chat.models import Message
from chat.upstream import token_budget
from chat.upstream.catalog import LlmModel
from chat.upstream.chat_request import ChatRequest
from tests.support.message_trees import Tree, conversation

pytestmark = [pytest.mark.database, pytest.mark.django_db]
HOSTED = LlmModel("@cf/a/b", "B", window=3_000)
LOCAL = LlmModel("local/a", "A", window=3_000, local=True)


@pytest.fixture
def tree() -> Tree:
    return Tree(conversation())


def reply(tree: Tree, text: str, question: str = "Why?") -> Message:
    """A reply behind an earlier turn."""
    *_, before = tree.grow(None, 2)
    user_message = tree.message(before, question)
    user_message.save()
    written = Message(conversation=tree.conversation, parent=user_message, role="assistant", text=text)
    written.save()
    return written


def told(made: ChatRequest) -> list[tuple[str, str]]:
    return [(message["role"], message["content"]) for message in made.messages]


def test_a_hosted_model_is_asked_to_go_on_behind_what_it_wrote(tree: Tree) -> None:
    made = Prompts(HOSTED, "Be kind.").go_on(reply(tree, "Because of "))
    assert told(made) == [
        ("system", "Be kind."),
        ("user", "user"),
        ("assistant", "assistant"),
        ("user", "Why?"),
        ("assistant", "Because of "),
        ("user", CONTINUE_INSTRUCTION),
    ]


def test_a_local_model_finds_its_own_words_last(tree: Tree) -> None:
    assert told(Prompts(LOCAL).go_on(reply(tree, "Because of ")))[-2:] == [
        ("user", "Why?"),
        ("assistant", "Because of "),
    ]


@pytest.mark.parametrize("model", [HOSTED, LOCAL], ids=["hosted", "local"])
@pytest.mark.parametrize("text", ["", " \n"])
def test_where_nothing_was_written_the_question_is_asked_again(
    tree: Tree, model: LlmModel, text: str
) -> None:
    assert told(Prompts(model).go_on(reply(tree, text)))[-1] == ("user", "Why?")


@pytest.mark.parametrize("model", [HOSTED, LOCAL], ids=["hosted", "local"])
@pytest.mark.parametrize("piece", ["word ", "1234567890 ", "世界", "\n"])
def test_end_of_a_too_long_reply_follows_the_question(tree: Tree, model: LlmModel, piece: str) -> None:
    text = piece * 4_000 + "the end"
    made = Prompts(model).go_on(reply(tree, text))
    question, partial = told(made)[-2:] if model.local else told(made)[-3:-1]
    assert question == ("user", "Why?")
    assert partial[0] == "assistant"
    assert text.endswith(partial[1])
    assert token_budget.estimate_tokens([{"content": partial[1]}], model) > model.window // 3
    assert token_budget.estimate_tokens(made.messages, model) + made.max_tokens <= model.window


def test_a_question_that_leaves_no_room_for_its_reply_is_refused(tree: Tree) -> None:
    with pytest.raises(PayloadTooLarge):
        Prompts(HOSTED).go_on(reply(tree, "word " * 2_000, question="why " * 2_000))


def test_empty_reply_is_left_out_and_its_questions_joined(tree: Tree) -> None:
    failed = reply(tree, "")
    made = Prompts(HOSTED).ask(failed.pk, "Really, why?")
    assert told(made)[-1] == ("user", "Why?\n\nReally, why?")
    assert told(Prompts(HOSTED).ask_again(failed.parent_id))[-1] == ("user", "Why?")


def test_of_a_deep_tree_only_what_can_fit_is_read(tree: Tree, django_assert_max_num_queries) -> None:
    leaf = tree.grow(None, 10_000)[-1]
    with django_assert_max_num_queries(6):
        made = Prompts(HOSTED).ask(leaf.pk, "And now?")
    assert len(made.messages) <= MAX_PROMPT_MESSAGES + 1
    assert made.messages[-1]["content"] == "And now?"

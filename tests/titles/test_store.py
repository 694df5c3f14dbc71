"""One claim for each conversation; and a generated title never replaces the owner's."""

from typing import Any

import pytest

from chat.conversations.titles import EXCERPT_CHARS, TitleClaim, claim_title, save_title
from chat.engine.outcome import RunOutcome
from chat.models import Conversation, TitleRequest
from tests.admin import seed
from tests.support.concurrency import at_once

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
DONE = RunOutcome("complete").to_columns()


def untitled(**fields: Any) -> Conversation:
    talk = seed.talk(**fields)
    Conversation.objects.filter(pk=talk.pk).update(title_state="first_line")
    return talk


def claim(talk: Conversation) -> TitleClaim | None:
    return claim_title(talk.pk, seed.messages_of(talk)[1].pk, seed.MODEL)


def test_one_of_many_claims_a_conversation() -> None:
    talk = untitled()
    claims = at_once(8, lambda: claim(talk))
    assert len([each for each in claims if each]) == 1
    assert TitleRequest.objects.get().status == "interrupted"


def test_a_claim_has_the_beginnings_of_both_texts() -> None:
    made = claim(untitled(question="a" * 9_000, reply="b" * 9_000))
    assert made
    assert (made.question, made.reply) == ("a" * EXCERPT_CHARS, "b" * EXCERPT_CHARS)


def test_titled_and_deleted_conversations_are_not_claimed() -> None:
    assert claim(seed.talk()) is None
    talk = untitled()
    Conversation.objects.filter(pk=talk.pk).update(deleted=talk.created)
    assert claim(talk) is None
    assert not TitleRequest.objects.exists()


def test_a_title_is_stored_once_and_never_over_the_owners() -> None:
    talk, renamed = untitled(title="One"), untitled(title="Two")
    claims = [claim(talk), claim(renamed)]
    Conversation.objects.filter(pk=renamed.pk).update(title="Mine", title_state="final")
    for made in claims:
        assert made
        save_title(made, "Red Boats", DONE)
        save_title(made, "Blue Boats", DONE)
    assert set(Conversation.objects.values_list("title", flat=True)) == {"Red Boats", "Mine"}
    assert TitleRequest.objects.filter(status="complete", finished__isnull=False).count() == 2

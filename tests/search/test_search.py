"""Search results, on both databases."""

from collections.abc import Callable
from datetime import UTC

import pytest
from django.utils import timezone

from chat.models import Conversation, Message, User
from chat.search import results
from chat.search.query import parse
from chat.search.results import RESULTS_PER_PAGE, Cursor
from chat.search.snippets import Snippet
from tests.search.conftest import Say, Talk

pytestmark = [pytest.mark.database, pytest.mark.django_db]
Found = Callable[..., list[str]]
TEXTS = (
    "The quick brown fox",
    "A fox is not quick to brown bread",
    "Crème brûlée à la Straße",
    "React: useEffect(foo.bar, 0x1f) in snake_case",
    "日本語のテストです",
    "한국어 검색",
    "Привет, мир",
    "C++ templates, `npm --dry-run` or -v",
    "C templates, npm, a dry run, v, net",
    "Smørrebrød in .NET and Django, Đorđe",
    "ann@example.com US$5 README.md#install",
    "class HTTPServer:",
    "جاء أحمد",
)


@pytest.mark.parametrize(
    ("typed", "texts"),
    [
        ("fox quick ", {0, 1}),
        ("FOX -bread", {0}),
        ('"quick brown"', {0}),
        ("bro", {0, 1}),
        ("bro ", set()),
        ("bro* fox ", {0, 1}),
        ("creme brulee", {2}),
        ("CRÈME", {2}),
        ("strasse ", {2}),
        ("useeffect", {3}),
        ("useEff", {3}),
        ("effect ", {3}),
        ("foo.bar", {3}),
        ("bar.foo", set()),
        ("0x1f", {3}),
        ("snake_case", {3}),
        ("snake_cas", {3}),
        ("本語", {4}),
        ("語本", set()),
        ("テスト", {4}),
        ("국어", {5}),
        ("привет", {6}),
        ("templates -dry", set()),
        ("templates -fox", {7, 8}),
        ("-fox", set()),
        ("templates -c++", {8}),
        ("django -.net", set()),
        ("c++", {7}),
        ("c", {7, 8}),
        ("c+", {7}),
        ("templates c#", set()),
        ("--dry-run", {7}),
        ("—dry-run", {7}),
        ("npm --dry-run ", {7}),
        ("dry run", {7, 8}),
        ("-v", {7}),
        ("npm -v ", {7}),
        ("dj", {9}),
        ("@example.com", {10}),
        ("ann@example.com ", {10}),
        ("$5", {10}),
        ("#install ", {10}),
        ("server ", {11}),
        ("httpserver ", {11}),
        ("احمد", {12}),
        ("d", set()),
        ("smorre", {9}),
        ("SMØRREBROD ", {9}),
        ("dorde ", {9}),
        ("nothing ", set()),
        ('fox" OR NEAR(', set()),
        ("' & | ! <-> :*", set()),
    ],
)
def test_words_phrases_beginnings_and_scripts_are_found(
    say: Say, found: Found, typed: str, texts: set[int]
) -> None:
    for text in TEXTS:
        say(text, title="…")
    assert {TEXTS.index(text) for text in found(typed) if text != "…"} == texts


def test_a_stranger_finds_nothing_and_a_word_is_no_tag(say: Say, found: Found, alice: User) -> None:
    say("secret")
    bob = User.objects.create_user("bob")
    assert found("secret") == ["secret"]
    assert found("secret", bob) == []
    say(f"_m{bob.pk} m{bob.pk}")
    assert found(f"_m{alice.pk} secret", bob) == found(f"m{bob.pk}", bob) == []


def test_a_title_is_found_first_and_alone(say: Say, alice: User) -> None:
    say("about boats")
    say("something", title="Boats and more")
    titled, in_message = results.search(alice.pk, parse("boats", UTC)).results
    assert (titled.message, titled.title) == (None, Snippet("Boats and more", [(0, 5)]))
    assert (in_message.title, in_message.snippet.marks) == (Snippet("A talk", []), [(6, 11)])
    assert [each.message for each in results.search(alice.pk, parse("in:title boats", UTC)).results] == [None]


def test_a_conversation_is_found_once_with_its_best_message(talk: Talk, alice: User) -> None:
    several = talk("Boats", ["boats", "boats and " + "much else " * 99, "boats, boats and boats", "other"])
    one = talk("One", ["a boats"])
    titled, single = results.search(alice.pk, parse("boats", UTC)).results
    assert (titled.title, titled.message, titled.more) == (Snippet("Boats", [(0, 5)]), several[2], 2)
    assert (single.message, single.more, titled.has_more) == (one[0], 0, False)


def test_twenty_rows_are_twenty_conversations(talk: Talk, alice: User) -> None:
    for n in range(25):
        talk(f"Title {n}", [f"fox {n}", *["fox"] * 11])
    talk("long", ["fox"] * 150)
    seen, cursor, pages = [], None, []
    while not pages or cursor:
        page = results.search(alice.pk, parse("fox", UTC), cursor)
        seen += [each.conversation for each in page.results]
        pages.append(len(page.results))
        cursor = page.next
    assert pages == [RESULTS_PER_PAGE, 6]
    assert len(set(seen)) == 26


def test_a_later_window_has_no_conversation_of_an_earlier_one(talk: Talk, alice: User, monkeypatch) -> None:
    """Whose newer match was shown: not one whose newer messages are deleted or match no filter."""
    monkeypatch.setattr("chat.search.matches.WINDOW_HITS", (3, 4))
    monkeypatch.setattr("chat.search.postgres.ENOUGH_RECENT", 3)
    monkeypatch.setattr("chat.search.results.MAX_WINDOWS", 1)
    keys = [talk(f"t {n}", ["fox"] * 3) for n in range(5)]
    older = keys[0]
    added = talk.more(older[0], ["fox", "fox"])
    Message.objects.filter(pk__in=[keys[1][1], keys[1][2]]).update(deleted=timezone.now())
    seen, cursor, more = [], None, True
    while more:
        page = results.search(alice.pk, parse("fox", UTC), cursor)
        seen += [each.message for each in page.results]
        cursor, more = page.next, page.next is not None
    assert len(seen) == 5
    assert set(seen) & {*added, *older} <= set(added)
    assert keys[1][0] in seen


def test_the_messages_of_one_chat_are_listed_newest_first(talk: Talk, alice: User) -> None:
    found = talk("Many", [f"fox {n}" for n in range(RESULTS_PER_PAGE + 3)])
    talk("Other", ["fox"])
    key = Message.objects.get(pk=found[0]).conversation_id
    page = results.search_in(alice.pk, parse("fox", UTC), key)
    rest = results.search_in(alice.pk, parse("fox", UTC), key, page.next)
    assert [each.message for each in page.results + rest.results] == found[::-1]
    assert rest.next is None
    bob = User.objects.create_user("bob")
    assert results.search_in(bob.pk, parse("fox", UTC), key).results == []


def test_a_few_pinned_chats_are_found_below_all_others(say: Say, alice: User, monkeypatch) -> None:
    """Their documents are searched, and none of the newer ones is read."""
    monkeypatch.setattr("chat.search.matches.WINDOW_HITS", (3, 4))
    pinned = say("an old fox", title="Old fox", pinned_at=timezone.now())
    for n in range(40):
        say(f"fox {n}", title=f"Fox {n}")
    for typed in ("is:pinned fox", "is:pinned"):
        page = results.search(alice.pk, parse(typed, UTC))
        assert [str(each.message) for each in page.results] == [pinned], typed
        assert page.next is None


def test_filters_are_about_the_conversation_and_the_time(say: Say, found: Found) -> None:
    now = timezone.now()
    say("plain fox")
    say("pinned fox", pinned_at=now)
    say("archived fox", archived_at=now)
    say("other fox", model="@cf/maker/Other_1")
    assert found("fox is:pinned") == ["pinned fox"]
    assert found("fox is:archived") == ["archived fox"]
    assert found("fox model:other_") == ["other fox"]
    assert found("fox model:othe__") == []
    assert found(f"fox before:{now.year - 1}") == found(f"fox after:{now.year + 1}") == []
    assert len(found(f"fox after:{now.year - 1}")) == 4


def test_deleted_and_temporary_conversations_are_not_found(say: Say, found: Found) -> None:
    say("deleted fox", deleted=timezone.now())
    say("temporary fox", temporary=True)
    gone = say("gone fox")
    assert found("fox") == ["gone fox"]
    Message.objects.filter(pk=gone).update(deleted=timezone.now())
    assert found("fox") == []
    Conversation.objects.all().update(deleted=None)
    assert found("fox") == ["deleted fox"]


def test_the_better_match_comes_first(say: Say, found: Found) -> None:
    say("A fox. " + "A long text about many other things. " * 10)
    say("fox fox fox")
    assert found("fox")[0] == "fox fox fox"


def test_pages_give_every_match_once(say: Say, alice: User) -> None:
    for n in range(RESULTS_PER_PAGE * 2 + 5):
        say(f"fox {n}", title=f"Title {n}")
    seen, cursor, pages = [], None, 0
    while pages == 0 or cursor:
        page = results.search(alice.pk, parse("fox", UTC), cursor)
        seen += [each.message for each in page.results]
        cursor, pages = page.next, pages + 1
        if pages == 1:
            say("fox, written meanwhile")
    assert len(seen) == len(set(seen)) == RESULTS_PER_PAGE * 2 + 5
    assert pages == 3


def test_windows_follow_one_another_to_the_oldest(say: Say, alice: User, monkeypatch) -> None:
    monkeypatch.setattr("chat.search.matches.WINDOW_HITS", (3, 4))
    monkeypatch.setattr("chat.search.postgres.ENOUGH_RECENT", 3)
    for n in range(30):
        say(f"fox {n}", title="…")
    seen, cursor = [], None
    while not seen or cursor:
        page = results.search(alice.pk, parse("fox", UTC), cursor)
        seen += [each.snippet.text for each in page.results]
        cursor = page.next
    assert sorted(seen) == sorted(f"fox {n}" for n in range(30))


@pytest.mark.parametrize(
    "written", ["", "x", "1", "1.", "-1.0", "1.-1", "1.0tt", "01.0", "1.99999", "f" * 16 + ".0"]
)
def test_a_made_up_cursor_is_refused(written: str) -> None:
    with pytest.raises(ValueError):
        Cursor.parse(written)


def test_a_cursor_is_read_as_it_was_written() -> None:
    for cursor in (Cursor(5), Cursor(1_000_000_001, 40, with_titles=False)):
        assert Cursor.parse(str(cursor)) == cursor

"""The words of a text, as they are indexed and looked for."""

import pytest

from chat.search import words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Hello, World!", ["hello", "world"]),
        ("Über Straße naïve", ["uber", "strasse", "naive"]),
        ("ΣΊΣΥΦΟΣ Ёлка İstanbul", ["σισυφοσ", "елка", "istanbul"]),
        ("ﬁne ①②", ["fine", "12"]),
        ("Smørrebrød Đorđe Łódź Ħal ılık", ["smorrebrod", "dorde", "lodz", "hal", "ilik"]),
        ("Æble œuvre Þór Kŋut ŧ ƙasa Ɓ əli", ["aeble", "oeuvre", "thor", "knut", "t", "kasa", "b", "eli"]),
        ("日本語 テスト", ["日", "本", "語", "テ", "ス", "ト"]),
        ("がっこう 한국어", ["が", "っ", "こ", "う", "한", "국", "어"]),
        ("Python3日本", ["python3", "日", "本"]),
        ("foo.bar snake_case 0x1f", ["foo", "bar", "snake", "case", "0x1f"]),
        ("مُحَمَّد", ["محمد"]),
        ("Donau\u00addampf\u00adschiff", ["donaudampfschiff"]),
        ("\ufeffword می\u200cخواهم ab\u2060cd a\u200bb", ["word", "ميخواهم", "abcd", "a", "b"]),
        ("أحمد إسلام آب كتاب کتاب مدرسة", ["احمد", "اسلام", "اب", "كتاب", "كتاب", "مدرسه"]),
        ("على علی ١٢٣ ۴ ५ ๖", ["علي", "علي", "123", "4", "5", "6"]),
        ("", []),
        ("…—!?", []),
    ],
)
def test_case_and_accents_are_folded_and_scripts_split(text: str, found: list[str]) -> None:
    assert words.split(text) == found


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("useEffect", ["use", "effect"]),
        ("call useMemo(getUserName)", ["use", "memo", "get", "user", "name"]),
        ("plain words", []),
        ("GLM and API", []),
        ("x2Y", ["x2", "y"]),
        ("HTTPServer, XMLParser", ["http", "server", "xml", "parser"]),
        ("GLMs", []),
    ],
)
def test_parts_of_an_identifier_are_indexed_beside_the_whole(text: str, parts: list[str]) -> None:
    assert words.indexed(text) == [*words.split(text), *parts]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("C++, C# and F#.", ["__c_pp", "__c_h", "__f_h"]),
        ("`--dry-run` or -v=1", ["_dd_dry", "_d_v"]),
        ("“—dry” –5 −6", ["_dd_dry", "_d_5", "_d_6"]),
        ("#tag @alice $10 €5 50% 8€", ["_h_tag", "_a_alice", "_s_10", "_e_5", "__50_c", "__8_e"]),
        ("C++入門 #日本", ["_h_日", "__c_pp"]),
        ("Ø+ #Ødegård", ["_h_odegard", "__o_p"]),
        ("a+b x@y.org US$5 a.md#in", ["_a_y", "_s_5", "_h_in", "__a_p", "__us_s", "__md_h"]),
        ("e-mail well-known a - b ---- ++ # 3.5 _x_ foo_-bar", []),
    ],
)
def test_symbols_make_words_with_the_words_they_belong_to(text: str, found: list[str]) -> None:
    assert words.with_symbols(text) == found
    assert words.indexed(text)[len(words.split(text)) :] == found


@pytest.mark.parametrize(
    "text",
    [
        "aB" * 200_000,
        "a" * 400_000,
        "\u0301" * 400_000,
        "aB日é" * 100_000,
        "a+" * 200_000,
        "a" * 200_000 + "+" * 200_000,
    ],
)
def test_a_hostile_text_takes_bounded_room(text: str) -> None:
    found = words.indexed(text)  # in quadratic time this would take hours
    assert len(" ".join(found).encode()) <= words.MAX_INDEXED_BYTES
    assert all(len(word) <= words.MAX_WORD_CHARS for word in found)


@pytest.mark.parametrize(
    "text", ["Über foo.bar", "nai\u0308ve 日本", "ﬁne Straße", "한국어 ①x", "a_b", "\u0301x"]
)
def test_places_name_the_words_and_where_they_stand(text: str) -> None:
    found = list(words.places(text))
    assert [place.word for place in found] == words.split(text)
    for place in found:
        assert words.fold(text[place.start : place.end]).startswith(place.word[:1])

"""A title is one short line of plain text, whatever the model answered."""

import pytest

from chat.conversations.titles import MAX_GENERATED_TITLE_CHARS, clean_title


@pytest.mark.parametrize(
    ("reply", "title"),
    [
        ("Red Boats", "Red Boats"),
        ("  Red   Boats \n\nThis title fits.", "Red Boats"),
        ('"Red Boats"', "Red Boats"),
        ("“Red Boats.”", "Red Boats"),
        ("„Rote Boote“", "Rote Boote"),
        ("« Bateaux rouges »", "Bateaux rouges"),
        ("「赤い船」", "赤い船"),
        ("**Title:** Red Boats", "Red Boats"),
        ("Title: “Red Boats”", "Red Boats"),
        ("Titel: Rote Boote!", "Rote Boote"),
        ("标题：红船", "红船"),
        ("# Red Boats", "Red Boats"),
        ("**Red Boats**", "Red Boats"),
        ("<title>Red Boats</title>", "Red Boats"),
        ("<think>A title, about boats?</think>\n\nRed Boats", "Red Boats"),
        ("Red Boats<|im_end|>", "Red Boats"),
        ("Red Boats…", "Red Boats"),
        ("Which Boats Are Red?", "Which Boats Are Red?"),
        ("Learning C#", "Learning C#"),
        ("Why C++ and `auto`", "Why C++ and auto"),
        ("Solving $ax^2+bx+c=0$", "Solving ax²+bx+c=0"),
        ('"Red" and "Blue"', '"Red" and "Blue"'),
        ("Rock 'n' Roll", "Rock 'n' Roll"),
        ("Centring a <div>", "Centring a <div>"),
        ("Family 👩‍👩‍👧 Trip", "Family 👩‍👩‍👧 Trip"),
        ("می‌خواهم", "می‌خواهم"),
        ("قوارب حمراء", "قوارب حمراء"),
        ("Red\u202e \u2066Boats\u2069\x00\x1b[2J\u200b\ufeff\ud800", "Red Boats[2J\ufffd"),
        ("Tie\u0302\u0301ng Vie\u0323\u0302t", "Tie\u0302\u0301ng Vie\u0323\u0302t"),
        ("Re" + "\u0301" * 40 + "d Boats", "Re" + "\u0301" * 4 + "d Boats"),
        *((f"Red{separator}Boats", "Red") for separator in "\n\r\x0b\x0c\x85\u2028\u2029"),
    ],
)
def test_what_is_no_part_of_a_title_is_removed(reply: str, title: str) -> None:
    assert clean_title(reply) == title


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n\t ",
        "\u202e\u200b",
        "🎉🎉",
        "\u3164\u3164 \u2800",
        "...",
        "x" * (MAX_GENERATED_TITLE_CHARS + 1),
        "x" * 10_000,
        "a b c d e f g h i j k",
        "I'm sorry, but I can't help with that.",
        "I cannot write a title",
        "Sorry",
        "As an AI I have no title",
        "Here is a title for it",
        "Es tut mir leid",
        '{"title": "Red Boats"}',
        "<think>and it never ended",
    ],
)
def test_a_reply_that_is_no_title_gives_none(reply: str) -> None:
    assert clean_title(reply) == ""

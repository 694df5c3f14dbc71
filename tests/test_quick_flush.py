"""Rows that a test has committed are gone before the next one, as after Django's own flush."""

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.management import call_command
from django.db import connection
from django.test import TransactionTestCase

from chat.models import User
from chat.search import index
from tests.support.message_trees import Tree, conversation
from tests.support.quick_flush import empty_tables

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


def fill() -> None:
    """Store rows that refer to each other in both directions, and words of the search index."""
    alice = User.objects.create_user("alice")
    group = Group.objects.create(name="staff")
    group.permissions.add(*Permission.objects.all()[:2])
    alice.groups.add(group)
    talk = conversation(alice)
    message = Tree(talk).message(None, "a question")
    message.save()
    index.add([index.title_of(talk), index.message_of(message, alice.pk)])


def rows() -> dict[str, int]:
    with connection.cursor() as cursor:
        counts = {}
        for table in connection.introspection.django_table_names(only_existing=True):
            cursor.execute(f"SELECT count(*) FROM {table}")
            counts[table] = cursor.fetchone()[0]
        return counts


def words_found() -> int:
    match = "words MATCH 'question'" if connection.vendor == "sqlite" else "words @@ 'question'"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM chat_search_words WHERE {match}")
        return int(cursor.fetchone()[0])


def test_all_rows_go_that_a_flush_deletes() -> None:
    call_command("flush", interactive=False, verbosity=0)
    flushed = rows()
    fill()
    assert rows() != flushed
    assert words_found() == 1
    empty_tables()
    assert rows() == flushed
    assert words_found() == 0


def test_a_changed_permission_is_restored() -> None:
    before = sorted(Permission.objects.values_list("codename", flat=True))
    Permission.objects.filter(codename=before[0]).delete()
    TransactionTestCase("run")._fixture_teardown()
    assert sorted(Permission.objects.values_list("codename", flat=True)) == before

"""A server does not load modules that it never uses: each would stay in its memory."""

from django.core.checks.registry import registry

from chatsite.management.commands.serve import Command
from tests.support.manage import run_manage


def test_a_server_on_sqlite_does_not_load_psycopg() -> None:
    """In another process, for this one has loaded it."""
    code = "import sys, chatsite.asgi, chatsite.urls; print('psycopg' in sys.modules)"
    assert run_manage("shell", "-v0", "-c", code, afresh=True).stdout == "False\n"


def test_a_start_does_not_import_the_migrations() -> None:
    """Nor the commands that make and apply them."""
    code = "import sys; from chat.db import migration_status;"
    code += "from chatsite.management.commands.serve import Command;"
    code += "migration_status.known_names(); Command().check(tags=Command.requires_system_checks);"
    code += "print([name for name in sys.modules if '.migrations.0' in name or 'makemigrations' in name])"
    assert run_manage("shell", "-v0", "-c", code, afresh=True).stdout == "[]\n"


def test_a_server_without_calls_of_tools_does_not_load_them() -> None:
    code = "import sys, chatsite.asgi, chatsite.urls;"
    code += "from chat.conversations.tools.registry import offered; from chat.models import User;"
    code += "offered(User());"
    code += "heavy = ('web_search', 'read_page', 'page_fetch', 'page_text', 'service', 'search_providers');"
    code += "found = [name for name in heavy if f'chat.conversations.tools.{name}' in sys.modules];"
    code += "print(found + [name for name in ('mcp', 'httpx2', 'pydantic') if name in sys.modules])"
    assert run_manage("shell", "-v0", "-c", code, afresh=True).stdout == "[]\n"


def test_a_start_makes_all_checks_that_settings_can_fail() -> None:
    tags = set(Command.requires_system_checks)
    left_out = {check.__name__ for check in registry.get_checks() if tags.isdisjoint(check.tags)}
    assert left_out == {"migrate_and_makemigrations_autodetector", "check_middleware", "axes_conf_check"}

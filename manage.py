#!/usr/bin/env python
"""The command line of the site: `manage.py serve` starts it, `manage.py help` lists the rest."""

import asyncio
import os
import sys


def main() -> None:
    """Run one command. A setting that cannot be used ends it with one sentence and exit code 2."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatsite.settings")
    if sys.argv[1:2] == ["serve"]:
        # Before Django: Daphne takes the loop for its reactor when it is first imported. 10 to 25 % less CPU.
        import uvloop

        import chatsite.server.unused_modules  # noqa: F401

        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    os.umask(0o077)  # the database holds every conversation: what a command makes belongs to its user alone

    from django.core.management import execute_from_command_line

    from chatsite.env import EnvError

    try:
        execute_from_command_line(sys.argv)
    except EnvError as error:
        print(f"Cannot start: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()

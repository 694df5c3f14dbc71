"""Today's migrations, and those beside this file."""

from chat import migrations

__path__ = [*__path__, *migrations.__path__]

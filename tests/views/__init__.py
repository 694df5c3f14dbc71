import pytest

# Helpers with assertions: a failure shows the compared values, as in a test.
pytest.register_assert_rewrite("tests.views.refusals", "tests.views.trees")

"""People of the tests of assistants, as fixtures that a conftest imports."""

import pytest
from django.contrib.auth.models import Permission

from chat.models import User


@pytest.fixture
def bob() -> User:
    return User.objects.create_user("bob")


@pytest.fixture
def staff() -> User:
    """One who may publish assistants."""
    made = User.objects.create_user("carol", is_staff=True)
    made.user_permissions.add(Permission.objects.get(codename="publish_assistant"))
    return made

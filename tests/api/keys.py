"""API keys without a server."""

from chat.models import ApiKey, User


def new_key() -> str:
    """Store alice with a key that may run models, and return the key."""
    key = ApiKey(user=User.objects.create_user("alice"), name="a program", may_run=True)
    secret = key.generate_secret()
    key.save()
    return secret

"""The people of the tests: alice owns, bob is a stranger, carol is staff without a right, dave was disabled,
erin reviews, root administers.
"""

PASSWORD = "correct horse battery"
CSRF = "c" * 32
SESSIONS = {name: (name * 32)[:32] for name in ("alice", "bob", "carol", "dave", "erin", "root")}

# Run by `manage.py shell` in a fresh database. One hash for all: hashing is not what these tests are about.
SCRIPT = f"""
from datetime import timedelta
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import Permission
from django.contrib.sessions.models import Session
from django.conf import settings
from django.utils import timezone
from chat.models import User
from chat.accounts.sessions import session_digest
password = PBKDF2PasswordHasher().encode({PASSWORD!r}, "salt", 1)
for name, key in {SESSIONS!r}.items():
    user = User.objects.create(username=name, email=name + "@example.org", password=password,
        is_staff=name in ("carol", "erin", "root"), is_superuser=name == "root", is_active=name != "dave")
    if name == "erin":
        user.user_permissions.add(Permission.objects.get(codename="view_conversation"))
    data = {{SESSION_KEY: str(user.pk), BACKEND_SESSION_KEY: settings.AUTHENTICATION_BACKENDS[0],
        HASH_SESSION_KEY: user.get_session_auth_hash()}}
    encoded = Session.get_session_store_class()().encode(data)
    Session.objects.create(session_key=session_digest(key), session_data=encoded,
        expire_date=timezone.now() + timedelta(days=1))
"""

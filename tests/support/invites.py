"""Invitations for tests."""

from chat.models import Invite, User


def issue_invite(made_by: User | None, note: str = "") -> tuple[Invite, str]:
    """Store an invitation, and return it with the token of its link."""
    invite = Invite(made_by=made_by, note=note)
    token = invite.generate_token()
    invite.save(force_insert=True)
    return invite, token

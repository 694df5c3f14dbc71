"""The check of a Cloudflare account before the site uses it: what its token may do, and what is missing."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.conf import settings
from django.utils.translation import gettext as _

from chat.catalog import config
from chat.upstream.catalog import DEFAULT_MODEL, Catalog, bundled, retired
from chat.upstream.client import Account, Client
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.providers.cloudflare_api import Cloudflare

from . import BAD, NOTE, Finding
from .checks import check_gateway, first_token, refused
from .web_search import finding

FORBIDDEN = {ErrorKind.AUTH, ErrorKind.NOT_PERMITTED}
UNROUTABLE_CODES = {"7000", "7003"}  # of Cloudflare, for an account that does not exist


@dataclass(frozen=True, slots=True)
class Checked:
    """`problem`: why the account cannot be used, "" if it can. `notes`: what does not work yet."""

    problem: str = ""
    notes: list[str] = field(default_factory=list)


async def check_account(account: Account) -> Checked:
    """Ask Cloudflare what the token may do. It takes 20 s at the most, and a fraction of a cent."""
    client = Client(account, None, gateway=config.gateway())
    cloudflare = client.cloudflare
    assert cloudflare is not None
    try:
        accepted = await cloudflare.verify()
        if accepted is None:
            return Checked(_("Cloudflare couldn’t be reached. Try again in a minute."))
        if not accepted:
            return Checked(
                _("Cloudflare doesn’t accept this token. Copy all of it, and check that it hasn’t expired.")
            )
        listing, reply, *more = await asyncio.gather(
            _list(cloudflare), _reply(client), _gateway(cloudflare), _search(account)
        )
    finally:
        await client.aclose()
    return _judged(listing, reply, more)


async def _list(cloudflare: Cloudflare) -> UpstreamError | None:
    try:
        await cloudflare.list_models()
    except UpstreamError as error:
        return error
    return None


async def _reply(client: Client) -> UpstreamError | None:
    """Let the model answer that a new site begins with."""
    offered = Catalog(bundled(), DEFAULT_MODEL, retired=retired())
    try:
        await first_token(client, offered, offered.default)
    except TimeoutError:
        return UpstreamError(ErrorKind.TIMEOUT)
    except UpstreamError as error:
        return error
    return None


async def _gateway(cloudflare: Cloudflare) -> Finding | None:
    name = config.gateway_name()
    return await check_gateway(cloudflare, name) if name else None


async def _search(account: Account) -> Finding | None:
    """Search the web, where the account may be used for it."""
    if settings.WEB_SEARCH not in ("", "cloudflare"):
        return None
    from chat.conversations.tools.search_providers import CloudflareSearch

    return await finding("cloudflare", CloudflareSearch(account), is_wanted=bool(settings.WEB_SEARCH))


def _judged(
    listing: UpstreamError | None, reply: UpstreamError | None, more: Iterable[Finding | None]
) -> Checked:
    """Return what the answers mean together.

    A token that may do one of the first two belongs to the account. A model that is busy or out of quota says
    nothing against it.
    """
    if listing and reply and {listing.kind, reply.kind} <= FORBIDDEN:
        if {listing.code, reply.code} & UNROUTABLE_CODES:
            return Checked(_("Cloudflare has no account with this ID."))
        return Checked(
            _(
                "The token is valid, but may not use Workers AI in this account. Check the account ID, and "
                "that the token has the permission Workers AI: Read."
            )
        )
    if reply and reply.kind in FORBIDDEN:
        return Checked(_("The token may not run models: it lacks the permission Workers AI: Read."))
    if listing and reply:
        return Checked(_("Cloudflare couldn’t be reached. Try again in a minute."))
    notes = []
    if listing:
        without = _("Without the list of models, the built-in ones are offered.")
        notes.append(_sentences(refused(_("Workers AI: Read"), listing), without))
    if reply:
        notes.append(_sentences(refused(_("First reply"), reply)))
    notes += [_sentences(each) for each in more if each and each.state in (BAD, NOTE)]
    return Checked(notes=notes)


def _sentences(finding: Finding, more: str = "") -> str:
    return " ".join(filter(None, (f"{finding.name}:", finding.message, finding.advice, more)))

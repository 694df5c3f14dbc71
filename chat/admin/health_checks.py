"""Health checks of a site's set-up. Each returns a finding in words, with what to do about it.

No finding repeats a server's own message, because that may contain anything, even a key.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from channels.layers import get_channel_layer
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models.functions import Now
from django.utils import formats
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from chat.db import run_in_db, write_lock
from chat.engine.engine import Engine
from chat.model_catalog import config
from chat.models import Worker
from chat.upstream.catalogue import LlmModel
from chat.upstream.chat_request import ChatRequest
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.provider import Provider
from chat.upstream.providers.cloudflare_api import Cloudflare
from chat.upstream.routing.rate_limiter import RateLimiter
from chat.upstream.routing.router import Router

QUESTION = "Say OK."
READ, WRITTEN = 20, 16  # most prompt tokens, with those that a model adds, and completion tokens of a check
FIRST_WORD = 15.0  # seconds within which a model has to send its first token
UNLIMITED = 1_000_000  # requests per minute
REDIS = 3.0  # seconds within which Redis has to answer
State = Literal["good", "note", "bad"]
GOOD: State = "good"
NOTE: State = "note"
BAD: State = "bad"
# For these errors, the message for users only says to tell the person who runs the site.
SAID = {
    ErrorKind.AUTH: gettext_noop("The account, the token or the key is not accepted."),
    ErrorKind.CREDITS: gettext_noop("There is no credit left."),
}
TODO = {
    ErrorKind.AUTH: gettext_noop(
        "Make a new token that may read and edit Workers AI, or write the right key."
    ),
    ErrorKind.NOT_PERMITTED: gettext_noop(
        "See in the provider’s dashboard whether the plan covers it, and its terms are accepted."
    ),
    ErrorKind.UNKNOWN_MODEL: gettext_noop("Take it from the list, or write its name as its server does."),
    ErrorKind.QUOTA: gettext_noop("Wait until 00:00 UTC, or choose a paid plan."),
    ErrorKind.CREDITS: gettext_noop("Add credit in the provider’s dashboard."),
    ErrorKind.THROTTLED: gettext_noop("Ask again in a minute."),
    ErrorKind.BUSY: gettext_noop("Ask again later; nothing is wrong here."),
    ErrorKind.TIMEOUT: gettext_noop("Ask again later; if it stays so, choose a model that is faster."),
    ErrorKind.BLOCKED: gettext_noop("Look at the guardrails of the gateway: they stop a harmless question."),
    ErrorKind.INVALID: gettext_noop(
        "The server takes no such request. Look at its address, and the gateway’s name."
    ),
    ErrorKind.UNAVAILABLE: gettext_noop("See whether its address is right, and this machine can reach it."),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check: `said` describes it, `todo` says what to do about it, "" if nothing."""

    name: str
    state: State
    said: str
    todo: str = ""


Check = Callable[[], Awaitable[Finding]]


def of_setup(engine: Engine) -> list[Check]:
    """Return the checks of the services that this site is set up to use."""
    found: list[Check] = [_database, lambda: _log(engine), _redis]
    if cloudflare := engine.client.cloudflare:
        found += [lambda: _token(engine), lambda: _list(cloudflare), lambda: _run(engine)]
    if gateway := config.gateway_name():
        assert cloudflare is not None
        found.append(lambda: _gateway(cloudflare, gateway))
    if settings.OPENAI_BASE_URL:
        found.append(lambda: _endpoint(engine))
    return found


def of_models(engine: Engine) -> list[Check]:
    """Return a check for each model that users may choose."""

    def check(model: LlmModel) -> Check:
        return lambda: answers(engine, model)

    return [check(model) for model in engine.catalogue]


def price(engine: Engine) -> float:
    """Return the most dollars that the checks of `of_models` can cost, as far as prices are known."""
    prices = ((model.price_in or 0, model.price_out or 0) for model in engine.catalogue)
    return sum(READ * price_in + WRITTEN * price_out for price_in, price_out in prices) / 1_000_000


async def answers(engine: Engine, model: LlmModel) -> Finding:
    """Send `QUESTION` to a model and measure the time to the first token, at which the stream is closed."""
    ask = ChatRequest([{"role": "user", "content": QUESTION}], model, WRITTEN, skip_cache=True)
    # A router of its own, so that a failed check opens no circuit breaker, and an open one stops no check.
    router = Router(engine.client, lambda: engine.catalogue, RateLimiter(UNLIMITED, UNLIMITED))
    loop = asyncio.get_running_loop()
    began = loop.time()
    try:
        async with asyncio.timeout(FIRST_WORD), router.stream(ask) as reply:
            said = await anext(reply, None)
    except TimeoutError:
        said_nothing = _("No word came in %(n)s seconds.") % {"n": int(FIRST_WORD)}
        return Finding(model.name, BAD, said_nothing, _todo(ErrorKind.TIMEOUT))
    except UpstreamError as error:
        return _refused(model.name, error)
    if said is None:
        return Finding(model.name, NOTE, _("It answered, without a word."))
    seconds = formats.number_format(loop.time() - began, 2)
    return Finding(model.name, GOOD, _("Its first word came after %(n)s s.") % {"n": seconds})


async def _database() -> Finding:
    name, kind = _("Database"), connection.settings_dict["ENGINE"].rpartition(".")[2]
    kind = {"sqlite3": "SQLite", "postgresql": "PostgreSQL"}.get(kind, kind)
    try:
        await run_in_db(_select)
    except DatabaseError:
        todo = _("See whether it runs, and DATABASE_URL leads to it.")
        return Finding(name, BAD, _("%(kind)s does not answer.") % {"kind": kind}, todo)
    return Finding(name, GOOD, _("%(kind)s answers.") % {"kind": kind})


async def _log(engine: Engine) -> Finding:
    """Write to the database: one more heartbeat of this process, which does no harm."""
    name = _("Log")
    try:
        await run_in_db(_beat, engine)
    except DatabaseError:
        todo = _("See whether the disk is full, and this user may write there.")
        return Finding(name, BAD, _("Nothing can be written into the database."), todo)
    return Finding(name, GOOD, _("What people ask and read can be stored."))


async def _redis() -> Finding:
    if not settings.REDIS_URL:
        return Finding("Redis", NOTE, _("Not set up, and not needed while there is one process."))
    try:
        layer: Any = get_channel_layer()
        await asyncio.wait_for(layer.group_send("checkup", {"type": "nothing"}), REDIS)
    except Exception:  # the exceptions of Redis clients are of many classes
        said = _("It does not answer. Processes find each other’s replies in the database meanwhile.")
        return Finding("Redis", BAD, said, _("See whether it runs, and REDIS_URL leads to it."))
    return Finding("Redis", GOOD, _("It answers."))


async def _token(engine: Engine) -> Finding:
    name = _("Cloudflare’s token")
    accepted = await engine.client.verify()
    if accepted is None:
        return Finding(name, BAD, _("Cloudflare could not be asked."), _todo(ErrorKind.UNAVAILABLE))
    if not accepted:
        return Finding(name, BAD, _("Cloudflare does not accept it."), _todo(ErrorKind.AUTH))
    return Finding(name, GOOD, _("Cloudflare accepts it."))


async def _list(cloudflare: Cloudflare) -> Finding:
    name = _("Workers AI, reading")
    try:
        await cloudflare.list_models()
    except UpstreamError as error:
        return _refused(name, error)
    return Finding(name, GOOD, _("The token may list models."))


async def _run(engine: Engine) -> Finding:
    """Check Workers AI with the default model, or with another of its models if the default is not one."""
    name = _("Workers AI, asking")
    own = [model for model in engine.catalogue if model.host is Provider.WORKERS_AI and not model.local]
    if not own:
        return Finding(name, NOTE, _("None of its models is offered."))
    chosen = engine.catalogue.default if engine.catalogue.default in own else own[0]
    found = await answers(engine, chosen)
    return Finding(name, found.state, f"{chosen.name}: {found.said}", found.todo)


async def _gateway(cloudflare: Cloudflare, gateway: str) -> Finding:
    name = _("AI Gateway “%(name)s”") % {"name": gateway}
    try:
        await cloudflare.find_gateway(gateway)
    except UpstreamError as error:
        if error.status == 404:
            todo = _("Make it in the dashboard, or write another name into AI_GATEWAY_ID.")
            return Finding(name, BAD, _("The account has no gateway of this name."), todo)
        if error.kind in (ErrorKind.AUTH, ErrorKind.NOT_PERMITTED):
            todo = _("Questions may pass all the same; thumbs need a token with AI Gateway: Read and Edit.")
            return Finding(name, NOTE, _("The token may not look at it."), todo)
        return _refused(name, error)
    return Finding(name, GOOD, _("It is there."))


async def _endpoint(engine: Engine) -> Finding:
    """Check the server of OPENAI_BASE_URL by its list of models.

    Some servers have no such list; the checks of their models say more.
    """
    found = config.endpoint()
    assert found is not None
    name = _("Server %(host)s") % {"host": found.host}
    try:
        served = await engine.client.endpoint_models()
    except UpstreamError as error:
        if error.status in (404, 405):
            todo = _("Ask the models themselves.")
            return Finding(name, NOTE, _("It answers, and lists no models."), todo)
        return _refused(name, error)
    missing = [model for model, window in settings.OPENAI_MODELS if model not in served]
    if missing:
        said = _("It answers, and does not list: %(names)s") % {"names": ", ".join(missing)}
        return Finding(name, NOTE, said, _("Write the names into OPENAI_MODELS as this server does."))
    return Finding(name, GOOD, _("It answers, and has all the models of OPENAI_MODELS."))


def _refused(name: str, error: UpstreamError) -> Finding:
    code = error.code or error.status
    said = _(SAID.get(error.kind, error.message)) + (f" ({code})" if code else "")
    return Finding(name, BAD, said, _todo(error.kind))


def _todo(kind: ErrorKind) -> str:
    return _(TODO[kind]) if kind in TODO else ""


def _select() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _beat(engine: Engine) -> None:
    with write_lock(), transaction.atomic():
        Worker.objects.filter(pk=engine.worker.pk).update(heartbeat_at=Now())

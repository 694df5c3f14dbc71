"""Health checks of a site's set-up. Each returns a finding in words, with what to do about it.

No finding repeats a server's own message, because that may contain anything, even a key.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from channels.layers import get_channel_layer
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from chat.catalog import config
from chat.conversations.tools import registry
from chat.conversations.tools.mcp import servers
from chat.db.executor import run_in_db, write_lock
from chat.engine.engine import Engine
from chat.formats import decimal_number
from chat.models import Worker
from chat.upstream.catalog import Catalog, LlmModel, Provider
from chat.upstream.chat_request import ChatRequest
from chat.upstream.client import Client
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.providers import ai_search
from chat.upstream.providers.cloudflare_api import Cloudflare
from chat.upstream.routing.rate_limiter import RateLimiter
from chat.upstream.routing.router import Router

from . import BAD, GOOD, NOTE, Finding
from .files import check_confinement, check_files
from .tool_servers import check_tool_server
from .web_search import check_page_rendering, check_web_search

TEST_QUESTION = "Say OK."
MAX_PROMPT_TOKENS = 20  # of a check, with those that a model adds
MAX_COMPLETION_TOKENS = 16
FIRST_TOKEN_SECONDS = 15.0  # within which a model has to send its first token
UNLIMITED_REQUESTS = 1_000_000  # requests per minute
REDIS_SECONDS = 3.0  # within which Redis has to respond
# For these errors, the message for users only says to tell the person who runs the site.
ERROR_MESSAGES = {
    ErrorKind.AUTH: gettext_noop("The account, token or key was rejected."),
    ErrorKind.CREDITS: gettext_noop("The account is out of credit."),
}
ERROR_ADVICE = {
    ErrorKind.AUTH: gettext_noop(
        "Create a token with Read and Edit access to Workers AI, or set the correct key."
    ),
    ErrorKind.NOT_PERMITTED: gettext_noop(
        "Check in the provider’s dashboard that your plan includes it and that its terms are accepted."
    ),
    ErrorKind.UNKNOWN_MODEL: gettext_noop(
        "Choose a model from the list, or use the exact name that its server uses."
    ),
    ErrorKind.QUOTA: gettext_noop("Wait until 00:00 UTC or upgrade to a paid plan."),
    ErrorKind.CREDITS: gettext_noop("Add credit in the provider’s dashboard."),
    ErrorKind.THROTTLED: gettext_noop("Try again in a minute."),
    ErrorKind.BUSY: gettext_noop("Try again later. Your setup is not the cause."),
    ErrorKind.TIMEOUT: gettext_noop("Try again later. If this continues, choose a faster model."),
    ErrorKind.BLOCKED: gettext_noop("Check the guardrails of the gateway: they block a harmless question."),
    ErrorKind.INVALID: gettext_noop(
        "The server rejects this request. Check its address and the gateway’s name."
    ),
    ErrorKind.UNAVAILABLE: gettext_noop("Check its address and whether this machine can reach it."),
}


Check = Callable[[], Awaitable[Finding]]


def service_checks(engine: Engine) -> list[Check]:
    """Return the checks of the services that this site is set up to use."""
    checks: list[Check] = [_check_database, lambda: _check_writable(engine), _check_redis]
    if settings.ATTACHMENTS:
        checks.append(check_files)
    if settings.ATTACHMENTS or settings.IMPORT_MAX_MB or registry.is_web_search_offered():
        checks.append(check_confinement)
    if cloudflare := engine.client.cloudflare:
        checks += [
            lambda: _check_token(cloudflare),
            lambda: _check_model_list(cloudflare),
            lambda: _check_workers_ai(engine),
        ]
        if gateway := config.gateway_name():
            checks.append(lambda: check_gateway(cloudflare, gateway))
        for instance, _label in settings.AI_SEARCH_INSTANCES:
            checks.append(partial(_check_ai_search, cloudflare, instance))
    if registry.is_web_search_offered() or (cloudflare and not settings.WEB_SEARCH):
        checks.append(check_web_search)
    if settings.READ_PAGE_RENDERING != "none":
        checks.append(check_page_rendering)
    checks += [partial(check_tool_server, name) for name in servers.names()]
    if settings.OPENAI_BASE_URL:
        checks.append(lambda: _check_endpoint(engine))
    return checks


def model_checks(engine: Engine) -> list[Check]:
    """Return a check for each model that users may choose."""

    def check(model: LlmModel) -> Check:
        return lambda: check_model(engine.client, engine.catalog, model)

    return [check(model) for model in engine.catalog]


def max_price(engine: Engine) -> float:
    """Return the most dollars that the checks of `model_checks` can cost, as far as prices are known."""
    prices = ((model.price_in or 0, model.price_out or 0) for model in engine.catalog)
    return (
        sum(
            MAX_PROMPT_TOKENS * price_in + MAX_COMPLETION_TOKENS * price_out for price_in, price_out in prices
        )
        / 1_000_000
    )


async def check_model(client: Client, catalog: Catalog, model: LlmModel) -> Finding:
    """Measure the time to a model's first token."""
    try:
        seconds = await first_token(client, catalog, model)
    except TimeoutError:
        message = _("No reply within %(n)s seconds.") % {"n": int(FIRST_TOKEN_SECONDS)}
        return Finding(model.name, BAD, message, _advice(ErrorKind.TIMEOUT))
    except UpstreamError as error:
        return refused(model.name, error)
    if seconds is None:
        return Finding(model.name, NOTE, _("The reply was empty."))
    return Finding(model.name, GOOD, _("First token after %(n)s s.") % {"n": decimal_number(seconds, 2)})


async def first_token(client: Client, catalog: Catalog, model: LlmModel) -> float | None:
    """Send `TEST_QUESTION` to a model, and close the stream after its first token.

    Return the seconds until it came, None if the reply was empty. Raises UpstreamError and TimeoutError.
    """
    request = ChatRequest(
        [{"role": "user", "content": TEST_QUESTION}], model, MAX_COMPLETION_TOKENS, skip_cache=True
    )
    # A router of its own, so that a failed check opens no circuit breaker, and an open one stops no check.
    router = Router(client, lambda: catalog, RateLimiter(UNLIMITED_REQUESTS, UNLIMITED_REQUESTS))
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with asyncio.timeout(FIRST_TOKEN_SECONDS), router.stream(request) as reply:
        first = await anext(reply, None)
    return None if first is None else loop.time() - began


async def _check_database() -> Finding:
    name, kind = _("Database"), connection.settings_dict["ENGINE"].rpartition(".")[2]
    kind = {"sqlite3": "SQLite", "postgresql": "PostgreSQL"}.get(kind, kind)
    try:
        await run_in_db(_select)
    except DatabaseError:
        advice = _("Check that it is running and that DATABASE_URL is correct.")
        return Finding(name, BAD, _("%(kind)s isn’t responding.") % {"kind": kind}, advice)
    return Finding(name, GOOD, _("%(kind)s is responding.") % {"kind": kind})


async def _check_writable(engine: Engine) -> Finding:
    """Write to the database: one more heartbeat of this process, which does no harm."""
    name = _("Writing to the database")
    try:
        await run_in_db(_write_heartbeat, engine)
    except DatabaseError:
        advice = _("Check for a full disk and missing write permissions.")
        return Finding(name, BAD, _("The database doesn’t accept writes."), advice)
    return Finding(name, GOOD, _("Messages and replies can be saved."))


async def _check_redis() -> Finding:
    if not settings.REDIS_URL:
        return Finding("Redis", NOTE, _("Not set up. A single process doesn’t need it."))
    try:
        layer: Any = get_channel_layer()
        await asyncio.wait_for(layer.group_send("checkup", {"type": "nothing"}), REDIS_SECONDS)
    except Exception:  # the exceptions of Redis clients are of many classes
        message = _("Not responding. Until it does, processes find each other’s replies in the database.")
        return Finding("Redis", BAD, message, _("Check that it is running and that REDIS_URL is correct."))
    return Finding("Redis", GOOD, _("Responding."))


async def _check_token(cloudflare: Cloudflare) -> Finding:
    name = _("Cloudflare token")
    accepted = await cloudflare.verify()
    if accepted is None:
        return Finding(name, BAD, _("Cloudflare couldn’t be reached."), _advice(ErrorKind.UNAVAILABLE))
    if not accepted:
        return Finding(name, BAD, _("Cloudflare rejected it."), _advice(ErrorKind.AUTH))
    return Finding(name, GOOD, _("Cloudflare accepts it."))


async def _check_model_list(cloudflare: Cloudflare) -> Finding:
    name = _("Workers AI: Read")
    try:
        await cloudflare.list_models()
    except UpstreamError as error:
        return refused(name, error)
    return Finding(name, GOOD, _("The token can list models."))


async def _check_workers_ai(engine: Engine) -> Finding:
    """Check Workers AI with the default model, or with another of its models if the default is not one."""
    name = _("Workers AI: Run")
    own = [model for model in engine.catalog if model.host is Provider.WORKERS_AI and not model.local]
    if not own:
        return Finding(name, NOTE, _("None of its models are available here."))
    chosen = engine.catalog.default if engine.catalog.default in own else own[0]
    found = await check_model(engine.client, engine.catalog, chosen)
    told = _("%(name)s: %(message)s") % {"name": chosen.name, "message": found.message}
    return Finding(name, found.state, told, found.advice)


async def check_gateway(cloudflare: Cloudflare, gateway: str) -> Finding:
    name = _("AI Gateway “%(name)s”") % {"name": gateway}
    try:
        await cloudflare.find_gateway(gateway)
    except UpstreamError as error:
        if error.status == 404:
            advice = _("Create it in the dashboard or set AI_GATEWAY_ID to an existing gateway.")
            return Finding(name, BAD, _("The account has no gateway with this name."), advice)
        if error.kind in (ErrorKind.AUTH, ErrorKind.NOT_PERMITTED):
            advice = _("Messages may still get through. Ratings need a token with AI Gateway: Read and Edit.")
            return Finding(name, NOTE, _("The token can’t access it."), advice)
        return refused(name, error)
    return Finding(name, GOOD, _("Found."))


async def _check_ai_search(cloudflare: Cloudflare, instance: str) -> Finding:
    """Search in an instance of AI Search, which needs the permission that its replies need."""
    name = _("AI Search “%(name)s”") % {"name": instance}
    try:
        await cloudflare.search(ai_search.MODEL_ID_PREFIX + instance)
    except UpstreamError as error:
        if error.kind is ErrorKind.UNKNOWN_MODEL:
            advice = _("Create it in the dashboard or correct AI_SEARCH_INSTANCES.")
            return Finding(name, BAD, _("The account has no instance with this name."), advice)
        if error.kind in (ErrorKind.AUTH, ErrorKind.NOT_PERMITTED):
            advice = _("Add the permissions AI Search: Edit and AI Search: Run to the token.")
            return Finding(name, BAD, _("The token can’t search in it."), advice)
        return refused(name, error)
    return Finding(name, GOOD, _("The token can search in it."))


async def _check_endpoint(engine: Engine) -> Finding:
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
            advice = _("Test the models directly.")
            return Finding(name, NOTE, _("Responding, but it doesn’t list its models."), advice)
        return refused(name, error)
    missing = [model for model, window in settings.OPENAI_MODELS if model not in served]
    if missing:
        message = _("Responding, but it doesn’t list: %(names)s") % {"names": ", ".join(missing)}
        return Finding(name, NOTE, message, _("Use the exact names of this server in OPENAI_MODELS."))
    return Finding(name, GOOD, _("Responding, with all models in OPENAI_MODELS."))


def refused(name: str, error: UpstreamError) -> Finding:
    code = error.code or error.status
    message = _(ERROR_MESSAGES.get(error.kind, error.message))
    return Finding(name, BAD, _with_code(message, str(code or "")), _advice(error.kind))


def _with_code(sentence: str, code: str) -> str:
    """Return the sentence with the server's code before its full stop."""
    return f"{sentence.removesuffix('.')} ({code})." if code else sentence


def _advice(kind: ErrorKind) -> str:
    return _(ERROR_ADVICE[kind]) if kind in ERROR_ADVICE else ""


def _select() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _write_heartbeat(engine: Engine) -> None:
    with write_lock(), transaction.atomic():
        Worker.objects.filter(pk=engine.worker.pk).update(heartbeat_at=Now())

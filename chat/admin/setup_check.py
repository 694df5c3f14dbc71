"""The set-up check: a page that runs the health checks and streams their results in one response.

So it needs no script, and no state in a process that a second request would have to find.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from django.contrib import admin
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from chat.catalog import config
from chat.db.executor import run_in_db
from chat.engine.engine import Engine, get_engine
from chat.formats import written_cost
from chat.health import BAD, NOTE, Finding
from chat.health import checks as health_checks
from chat.health.checks import Check
from chat.views.requests import access

MAX_CONCURRENT_CHECKS = 4
TOTAL_SECONDS = 120.0  # for all checks
RESULTS_PLACE = "<!-- results -->"  # marks the place of the results in the page


@access.require_methods("GET", "HEAD", "POST")
async def checkup(request: HttpRequest) -> HttpResponseBase:
    """Return what is set up; on POST, stream the results of checking it, or with `what=models` all models."""
    engine = await get_engine()
    if (refused := await run_in_db(refusal, request)) is not None:
        return refused
    what = request.POST.get("what", "setup") if request.method == "POST" else ""
    page = await run_in_db(_page, engine, request, what)
    if not what:
        return HttpResponse(page)
    checks = health_checks.model_checks(engine) if what == "models" else health_checks.service_checks(engine)
    response = StreamingHttpResponse(_results(page, checks))
    response["Cache-Control"] = "no-store, no-transform"
    response["X-Accel-Buffering"] = "no"
    response["Content-Encoding"] = "identity"
    return response


def refusal(request: HttpRequest) -> HttpResponse | None:
    """Return a redirect to the login for non-staff, as Django's admin does, and None for administrators.

    Raises PermissionDenied: for other staff.
    """
    if not admin.site.has_permission(request):
        return redirect_to_login(request.get_full_path(), reverse("admin:login"))
    if not request.user.is_superuser:
        raise PermissionDenied
    return None


def _page(engine: Engine, request: HttpRequest, what: str) -> str:
    price = health_checks.max_price(engine)
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": _("Setup check"),
        "what": what,
        "models": len(list(engine.catalog)),
        "default": engine.catalog.default,
        "account": engine.client.cloudflare is not None,
        "gateway": config.gateway_name(),
        "endpoint": config.endpoint(),
        "price": price,
        "cost": written_cost(price),
        "minutes": round(TOTAL_SECONDS / 60),
        "results": RESULTS_PLACE,
    }
    return render_to_string("admin/chat/setup_check/page.html", context, request)


async def _results(page: str, checks: list[Check]) -> AsyncIterator[str]:
    """Yield the page up to the results, each result in order as soon as it is known, and the page's rest."""
    head, _mark, rest = page.partition(RESULTS_PLACE)
    deadline = asyncio.get_running_loop().time() + TOTAL_SECONDS
    slots = asyncio.Semaphore(MAX_CONCURRENT_CHECKS)
    language = translation.get_language()
    tasks = [asyncio.create_task(_run_check(check, slots, deadline, language)) for check in checks]
    try:
        yield head
        states = []
        for task in tasks:
            state, row = await task
            states.append(state)
            yield row
        yield _row(
            "admin/chat/setup_check/_summary.html", language, bad=states.count(BAD), notes=states.count(NOTE)
        )
        yield rest
    finally:
        for task in tasks:
            task.cancel()


async def _run_check(
    check: Check, slots: asyncio.Semaphore, deadline: float, language: str | None
) -> tuple[str, str]:
    """Return a finding's state and its row as HTML, in the request's language.

    `language` is passed, because a task has a context of its own.
    """
    with translation.override(language):
        found = await _in_time(check, slots, deadline)
        return found.state, _row("admin/chat/setup_check/_finding.html", language, finding=found)


async def _in_time(check: Check, slots: asyncio.Semaphore, deadline: float) -> Finding:
    try:
        async with asyncio.timeout_at(deadline), slots:
            return await check()
    except TimeoutError:
        return Finding(_("Not checked"), NOTE, _("The check ran out of time."), _("Run the check again."))


def _row(template: str, language: str | None, **context: Any) -> str:
    with translation.override(language):
        return render_to_string(template, context)

"""Our middleware beside Django's own: the same responses to the same requests, without a thread a hook."""

import re
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import SyncToAsync
from django.contrib import messages
from django.contrib.auth import alogin
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.test import AsyncClient, Client
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt

from chat.models import User
from chatsite.response_headers import CSP, SECURITY_HEADERS, STATIC_FILE_HEADERS, TRUSTED_TYPES

DJANGO = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
OURS = [f"chatsite.middleware.{name.rsplit('.', 1)[1]}" for name in DJANGO]
HEADERS_MIDDLEWARE = "chatsite.response_headers.ResponseHeadersMiddleware"
STATIC_MIDDLEWARE = "chatsite.static_files.StaticMiddleware"
SECRET = "a" * 32
TOKEN = re.compile(r"((?:sessionid|csrftoken|messages)=)[^;]*|expires=[^;]*")


async def plain(request: HttpRequest) -> HttpResponse:
    return HttpResponse("plain")


async def form(request: HttpRequest) -> HttpResponse:
    return HttpResponse("form" if request.META.get("CSRF_COOKIE") else "no cookie")


def counted(request: HttpRequest) -> HttpResponse:
    request.session["count"] = request.session.get("count", 0) + 1
    return HttpResponse(str(request.session["count"]))


def emptied(request: HttpRequest) -> HttpResponse:
    request.session.flush()
    return HttpResponse("emptied")


def told(request: HttpRequest) -> HttpResponse:
    messages.info(request, "m" * int(request.GET["length"]))
    return HttpResponse("told")


def shown(request: HttpRequest) -> HttpResponse:
    return HttpResponse(",".join(str(len(str(message))) for message in messages.get_messages(request)))


async def named(request: Any) -> HttpResponse:
    return HttpResponse((await request.auser()).get_username() or "nobody")


async def entered(request: HttpRequest) -> HttpResponse:
    await alogin(request, await User.objects.aget(username="alice"))
    return HttpResponse("entered")


def broken(request: HttpRequest) -> HttpResponse:
    request.session["lost"] = True
    return HttpResponse("broken", status=500)


async def streamed(request: HttpRequest) -> StreamingHttpResponse:
    async def parts() -> Any:
        yield b"a"
        yield b"b"

    return StreamingHttpResponse(parts(), headers={"Cache-Control": "no-cache, no-transform"})


async def both(request: Any) -> HttpResponse:
    name = (await request.auser()).get_username()
    return HttpResponse(f"{name} {request.user.get_username()}")


def transcript(request: HttpRequest) -> HttpResponse:
    response = HttpResponse("a page without jQuery")
    response.trusted_types = True  # type: ignore[attr-defined]
    return response


urlpatterns = [
    path("admin/", include(([path("list/", plain), path("transcript/", transcript)], "admin"))),
    path("plain/", plain),
    path("form/", form),
    path("exempt/", csrf_exempt(form)),
    path("counted/", counted),
    path("emptied/", emptied),
    path("told/", told),
    path("shown/", shown),
    path("named/", named),
    path("thread/", lambda request: HttpResponse(request.user.get_username() or "nobody")),
    path("entered/", entered),
    path("broken/", broken),
    path("streamed/", streamed),
    path("both/", both),
]

# One visitor's way through the site; each line is method, path, and further arguments of the request.
JOURNEY: list[tuple[str, str, dict[str, Any]]] = [
    ("get", "/plain/", {}),
    ("get", "/plain", {}),
    ("get", "/nowhere/", {}),
    ("get", "/plain/", {"headers": {"host": "evil.example"}}),
    ("post", "/form/", {"data": {"a": "b"}}),
    ("post", "/form/", {"data": "{}", "content_type": "application/json"}),
    ("post", "/form/", {"headers": {"x-csrftoken": SECRET}}),
    ("post", "/form/", {"data": {"csrfmiddlewaretoken": SECRET}}),
    ("post", "/form/", {"headers": {"x-csrftoken": SECRET, "origin": "null"}}),
    ("post", "/form/", {"headers": {"x-csrftoken": SECRET, "origin": "https://evil.example"}}),
    ("post", "/exempt/", {"data": {"a": "b"}}),
    ("get", "/counted/", {}),
    ("get", "/counted/", {}),
    ("get", "/broken/", {}),
    ("get", "/told/?length=20", {}),
    ("get", "/plain/", {}),
    ("get", "/shown/", {}),
    ("get", "/shown/", {}),
    ("get", "/told/?length=5000", {}),
    ("get", "/shown/", {}),
    ("get", "/named/", {}),
    ("get", "/entered/", {}),
    ("get", "/named/", {}),
    ("get", "/thread/", {}),
    ("get", "/streamed/", {}),
    ("head", "/plain/", {}),
    ("get", "/emptied/", {}),
    ("get", "/thread/", {}),
]


@pytest.fixture(autouse=True)
def our_urls(settings: Any) -> None:
    settings.ROOT_URLCONF = __name__


def seen(response: HttpResponseBase) -> tuple[Any, ...]:
    """Return everything that a browser learns from a response, without random values."""
    body = b"" if response.streaming else response.content  # type: ignore[attr-defined]
    cookies = {name: TOKEN.sub(r"\1", morsel.OutputString()) for name, morsel in response.cookies.items()}
    return response.status_code, body, dict(sorted(response.headers.items())), cookies


async def walk(settings: Any, middleware: list[str]) -> list[tuple[Any, ...]]:
    """Return the responses on the way, first without and then with a cookie against forged forms."""
    settings.MIDDLEWARE = middleware
    responses = []
    for cookie in ({}, {"csrftoken": SECRET}):
        client = AsyncClient(enforce_csrf_checks=True)
        client.cookies.load(cookie)
        for method, where, more in JOURNEY:
            responses.append((method, where, *seen(await getattr(client, method)(where, **more))))
    return responses


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("https", [False, True])
async def test_async_responses_equal_those_of_django_middleware(settings: Any, https: bool) -> None:
    await User.objects.acreate(username="alice")
    settings.SECURE_SSL_REDIRECT = https
    theirs = await walk(settings, DJANGO)
    ours = await walk(settings, OURS)
    assert ours == theirs
    assert {response[2] for response in ours} >= ({301, 400} if https else {200, 301, 400, 403, 404, 500})


@pytest.mark.django_db(transaction=True)
def test_sync_responses_equal_those_of_django_middleware(settings: Any) -> None:
    User.objects.create(username="alice")
    walks = []
    for middleware in (DJANGO, OURS):
        settings.MIDDLEWARE = middleware
        client = Client(enforce_csrf_checks=True)
        client.cookies.load({"csrftoken": SECRET})
        journey = [step for step in JOURNEY if step[1] != "/streamed/"]  # no place in a synchronous server
        walks.append([seen(getattr(client, method)(where, **more)) for method, where, more in journey])
    assert walks[0] == walks[1]


@pytest.fixture
def hops(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hooks of middleware that were sent to a thread."""
    made: list[str] = []
    original = SyncToAsync.__call__

    async def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        name = getattr(self.func, "__name__", "")
        if name.startswith("process_"):
            made.append(name)
        return await original(self, *args, **kwargs)

    monkeypatch.setattr(SyncToAsync, "__call__", call)
    return made


@pytest.mark.django_db(transaction=True)
async def test_only_a_changed_session_costs_a_thread(settings: Any, hops: list[str]) -> None:
    client = AsyncClient()
    settings.MIDDLEWARE = DJANGO
    await client.get("/plain/")
    assert len(hops) >= 10  # so the count can see them
    hops.clear()
    settings.MIDDLEWARE = [HEADERS_MIDDLEWARE, STATIC_MIDDLEWARE]
    settings.MIDDLEWARE += OURS
    client = AsyncClient()
    await client.get("/plain/")
    await client.post("/form/", {"a": "b"})
    await client.get("/named/")
    assert hops == []
    await client.get("/counted/")
    assert hops == ["process_response"]


@pytest.mark.django_db(transaction=True)
async def test_the_user_is_asked_for_once(settings: Any) -> None:
    settings.MIDDLEWARE = OURS
    alice = await User.objects.acreate(username="alice")
    client = AsyncClient()
    await client.aforce_login(alice)
    response = await client.get("/both/")  # the second look would fail: it is made on the event loop
    assert response.content == b"alice alice"


async def test_a_static_file_is_served_whole_with_its_headers(settings: Any, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    settings.MIDDLEWARE = [HEADERS_MIDDLEWARE, STATIC_MIDDLEWARE]
    (tmp_path / "a.js").write_text("1234567890")
    (tmp_path / "a.js.br").write_bytes(b"brotli")
    client = AsyncClient()
    response = await client.get("/static/a.js")
    assert (response.status_code, response.content) == (200, b"1234567890")
    assert response["Content-Type"].startswith("text/javascript")
    for name, value in STATIC_FILE_HEADERS.items():
        assert response[name] == value
    assert "Permissions-Policy" not in response
    smaller = await client.get("/static/a.js", headers={"accept-encoding": "br"})
    assert (smaller.content, smaller["Content-Encoding"]) == (b"brotli", "br")
    unchanged = await client.get("/static/a.js", headers={"if-none-match": response["ETag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    part = await client.get("/static/a.js", headers={"range": "bytes=2-4"})
    assert (part.status_code, part.content, part["Content-Length"]) == (206, b"345", "3")
    head = await client.head("/static/a.js")
    assert (head.content, head["Content-Length"]) == (b"", "10")
    assert (await client.post("/static/a.js")).status_code == 405


@pytest.mark.parametrize(
    "where", ["/static/../secret", "/static/..%2fsecret", "/static/%00", "/static/a.js/", "/static/"]
)
async def test_unknown_static_files_are_not_served(where: str, settings: Any, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path / "static"
    settings.MIDDLEWARE = [STATIC_MIDDLEWARE]
    settings.STATIC_ROOT.mkdir()
    (tmp_path / "secret").write_text("secret")
    response = await AsyncClient().get(where)
    assert response.status_code == 404
    assert str(tmp_path) not in response.content.decode()


@pytest.mark.django_db(transaction=True)
async def test_every_response_says_what_a_browser_may_do(settings: Any) -> None:
    for where in ("/plain/", "/nowhere/", "/plain", "/counted/"):
        response = await AsyncClient().get(where)
        for name, value in SECURITY_HEADERS.items():
            assert response[name] == value
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response["X-Frame-Options"] == "DENY"
        assert response["Referrer-Policy"] == "same-origin"
        assert response["Cross-Origin-Opener-Policy"] == "same-origin"
        assert "unsafe" not in response["Content-Security-Policy"]
        assert "Access-Control-Allow-Origin" not in response


async def test_only_pages_that_load_jquery_may_make_html_of_any_text(settings: Any) -> None:
    async def policy(where: str) -> str:
        return (await AsyncClient().get(where))["Content-Security-Policy"]

    assert "require-trusted-types-for 'script'" in TRUSTED_TYPES
    for where in ("/plain/", "/admin/transcript/", "/nowhere/", "/streamed/"):
        assert await policy(where) == f"{CSP}; frame-src 'self'; {TRUSTED_TYPES}"
    assert await policy("/admin/list/") == CSP


@pytest.mark.django_db(transaction=True)
async def test_personal_pages_are_no_store_unless_the_view_differs(settings: Any) -> None:
    alice = await User.objects.acreate(username="alice")
    client = AsyncClient()
    assert "Cache-Control" not in await client.get("/named/")
    await client.aforce_login(alice)
    assert (await client.get("/named/"))["Cache-Control"] == "no-store"
    assert (await client.get("/thread/"))["Cache-Control"] == "no-store"
    assert "Cache-Control" not in await client.get("/plain/")
    assert (await client.get("/streamed/"))["Cache-Control"] == "no-cache, no-transform"

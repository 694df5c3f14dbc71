"""The sources that chatsite/server patches have not changed; and the short path through Django's handler."""

import asyncio
import gc
import hashlib
import inspect
import weakref
from collections.abc import Callable
from importlib import metadata
from typing import Any

import daphne.http_protocol
import daphne.server
import pytest
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.deprecation import MiddlewareMixin
from django.utils.functional import SimpleLazyObject
from twisted.internet import tcp
from twisted.internet.abstract import FileDescriptor
from twisted.web import http

from chatsite.asgi import Handler
from chatsite.server.connection import DeadlineChannel, LimitedRequest
from chatsite.server.daphne_server import ChatServer, LimitedFactory

SERVER, CONNECTION = "chatsite/server/daphne_server.py", "chatsite/server/connection.py"
HANDLER, MODULES = "chatsite/asgi.py", "chatsite/server/unused_modules.py"
MIDDLEWARE, STREAM = "chatsite/middleware.py", "chatsite/server/stream_connection.py"
# The functions that each module replaces, overrides, or leans on, and the start of their sources' SHA-256.
PATCHED: dict[str, list[tuple[Callable[..., Any], str]]] = {
    SERVER: [
        (daphne.server.Server.__init__, "e090af1e2673"),
        (daphne.server.Server.run, "447c6bd42c62"),
        (daphne.server.Server.create_application, "f1e300b4ecf6"),
        (daphne.server.Server.handle_reply, "9d9dbaea6de0"),
        (daphne.server.Server.protocol_disconnected, "c1f5fe8cdedc"),
        (daphne.server.Server.kill_all_applications, "4e1618c6f787"),
        (daphne.http_protocol.HTTPFactory.buildProtocol, "35e878a6e0e4"),
        (http.HTTPFactory.log, "e9acff05b9a5"),
        (tcp.Port.doRead, "d240fc123090"),
        (tcp.Connection.connectionLost, "dd7a9a87035a"),
        (tcp.Server.__init__, "fbf83f6f693d"),
        (tcp.Connection.writeSomeData, "2dd0d4209260"),
        (FileDescriptor.write, "3e46c97fc173"),
        (FileDescriptor.writeSequence, "1606f230d318"),
        (FileDescriptor.doWrite, "a986d7b1b105"),
    ],
    CONNECTION: [
        (http.HTTPChannel.checkPersistence, "3f0cb5b5a40e"),
        (http.HTTPChannel.dataReceived, "152316e9ce50"),
        (http.HTTPChannel.allContentReceived, "9f7c99069687"),
        (http.HTTPChannel.requestDone, "a75a186c66f7"),
        (http.HTTPChannel.connectionLost, "d0850abf8e2e"),
        (http.HTTPChannel.timeoutConnection, "f08552855cd2"),
        (daphne.http_protocol.WebRequest.__init__, "ec85d9f2a762"),
        (daphne.http_protocol.WebRequest.process, "e9babd1c97ce"),
        (daphne.http_protocol.WebRequest.finish, "7e03ef03e35b"),
        (daphne.http_protocol.WebRequest.connectionLost, "9276daf58071"),
        (http.HTTPChannel.lineReceived, "b77ec6f21116"),  # sets _command and _path
        (http.Request.gotLength, "1c389b99da50"),
        (http.Request.handleContentChunk, "6e942756afb7"),
        (http.Request.requestReceived, "99ca6c5e2430"),
    ],
    HANDLER: [
        (ASGIHandler.handle, "98faeb5bef80"),
        (ASGIHandler.read_body, "cf4aa904631d"),
        (ASGIHandler.create_request, "5eae59c66960"),
        (ASGIHandler.send_response, "77eda2b08689"),
        (HttpRequest.body.fget, "6bc745122420"),
    ],
    STREAM: [
        (daphne.server.Server.application_checker, "ccb688341a7d"),
        (http.HTTPChannel.__init__, "3c799fc1cbf9"),
        (http.HTTPChannel.rawDataReceived, "e31f4ed81196"),  # fills _dataBuffer
        (http.HTTPChannel.connectionMade, "95b71a1bc3ab"),
        (http.HTTPChannel.requestDone, "a75a186c66f7"),
        (http.Request.write, "0e547d4f76bd"),
        (http.Request.registerProducer, "2be6d77997f6"),
        (http.toChunk, "f326a3bed37a"),
        (http.HTTPFactory.buildProtocol, "d08b3853c627"),
        (FileDescriptor.registerProducer, "7d7ad4f91234"),
        (FileDescriptor.connectionLost, "1e0b14c7c3f9"),
        (tcp.Connection.connectionLost, "dd7a9a87035a"),
        (ASGIHandler.send_response, "77eda2b08689"),
    ],
    MODULES: [(daphne.server.Server.run, "447c6bd42c62")],
    MIDDLEWARE: [
        (MiddlewareMixin.__init__, "cd0d3fd41f94"),
        (MiddlewareMixin.__call__, "337be048dd62"),
        (MiddlewareMixin.__acall__, "adf8cbcaf9f1"),
    ],
}


def fingerprint(function: Callable[..., Any]) -> str:
    return hashlib.sha256(inspect.getsource(function).encode()).hexdigest()[:12]


@pytest.mark.parametrize(
    ("module", "function", "known"),
    [
        pytest.param(module, function, known, id=f"{module.rpartition('/')[2]}-{function.__qualname__}")
        for module, functions in PATCHED.items()
        for function, known in functions
    ],
)
def test_patched_code_has_not_changed(module: str, function: Callable[..., Any], known: str) -> None:
    package = function.__module__.partition(".")[0]
    found = fingerprint(function)
    assert found == known, (
        f"{function.__qualname__} has changed in {package} {metadata.version(package)}. "
        f"Compare it with the version before, see whether {module} is still right or can go, and then write "
        f'"{found}" for it in PATCHED of this file.'
    )


def overridden() -> list[Callable[..., Any]]:
    """Return the methods upstream that the classes of `chatsite.server` override."""
    classes = (ChatServer, LimitedFactory, DeadlineChannel, LimitedRequest, Handler)
    return [
        next(vars(base)[name] for base in ours.__mro__[1:] if name in vars(base))
        for ours in classes
        for name, value in vars(ours).items()
        if inspect.isfunction(value) and any(name in vars(base) for base in ours.__mro__[1:])
    ]


@pytest.mark.parametrize("function", overridden(), ids=lambda function: function.__qualname__)
def test_each_method_that_is_overridden_is_watched(function: Callable[..., Any]) -> None:
    assert function in [watched for functions in PATCHED.values() for watched, _ in functions]


def test_a_change_of_what_is_patched_would_be_seen() -> None:
    assert fingerprint(fingerprint) != fingerprint(test_patched_code_has_not_changed)


read: "asyncio.Future[bytes]"
left: asyncio.Event


async def slow(request: HttpRequest) -> HttpResponse:
    """Sleep in a view as a send is stored: it continues after the client has left."""
    return await asyncio.shield(_slow(request))


async def _slow(request: HttpRequest) -> HttpResponse:
    try:
        await left.wait()
        read.set_result(request.body)
    except Exception as error:
        read.set_exception(error)
    return HttpResponse("late")


request_ref: "weakref.ref[HttpRequest]"


async def cyclic(request: HttpRequest) -> HttpResponse:
    """Create a reference cycle, as a request with a user does."""
    global request_ref
    request_ref = weakref.ref(request)
    request.user = SimpleLazyObject(lambda: request)  # type: ignore[assignment]
    return HttpResponse("here")


urlpatterns = [path("slow/", slow), path("cyclic/", cyclic)]


async def test_sent_data_can_be_read_after_the_client_has_left(settings: Any) -> None:
    global read, left
    settings.ROOT_URLCONF, settings.MIDDLEWARE = __name__, []
    read, left = asyncio.get_running_loop().create_future(), asyncio.Event()
    arriving = asyncio.Queue[dict[str, Any]]()
    arriving.put_nowait({"type": "http.request", "body": b"all of it", "more_body": False})
    scope = {"type": "http", "method": "POST", "path": "/slow/", "query_string": b"", "headers": []}
    request = asyncio.ensure_future(Handler().without_threads(scope, arriving.get, _unsent))
    arriving.put_nowait({"type": "http.disconnect"})
    await request
    left.set()
    assert await read == b"all of it"


async def test_a_request_is_freed_at_its_end_without_the_collector(settings: Any) -> None:
    settings.ROOT_URLCONF, settings.MIDDLEWARE = __name__, []
    arriving = asyncio.Queue[dict[str, Any]]()
    arriving.put_nowait({"type": "http.request", "body": b"", "more_body": False})
    scope = {"type": "http", "method": "GET", "path": "/cyclic/", "query_string": b"", "headers": []}
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    gc.disable()
    try:
        await Handler().without_threads(scope, arriving.get, send)
        await asyncio.sleep(0.01)
        assert request_ref() is None
    finally:
        gc.enable()
    assert [message.get("body") for message in sent] == [None, b"here"]


async def _unsent(message: dict[str, Any]) -> None:
    raise AssertionError(f"nobody is there to read {message}")

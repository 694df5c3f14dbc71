"""The standard of comparison: a relay that stores nothing, checks nothing, and passes the bytes on.

aiohttp on both sides, over uvloop: C parsers for HTTP, no look at the body.
`python -m tests.tools.bench.relay <url>` prints its own address and serves until it is ended.
"""

import asyncio
import sys

import aiohttp
import uvloop
from aiohttp import web

UPSTREAM = web.AppKey("upstream", str)
SESSION = web.AppKey("session", aiohttp.ClientSession)


async def relay(request: web.Request) -> web.StreamResponse:
    body = await request.read()
    headers = {name: request.headers[name] for name in ("Authorization", "Content-Type")}
    url = request.app[UPSTREAM] + request.path
    async with request.app[SESSION].post(url, data=body, headers=headers) as upstream:
        response = web.StreamResponse(status=upstream.status, headers={"Content-Type": upstream.content_type})
        await response.prepare(request)
        async for piece in upstream.content.iter_any():
            await response.write(piece)
        return response


async def serve(upstream: str) -> None:
    app = web.Application()
    app[UPSTREAM] = upstream
    app.router.add_post("/{path:.*}", relay)
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=None)
    ) as session:
        app[SESSION] = session
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1]))

"""The client of Workers AI, and of the local model: one for each event loop, with connections to spare."""

import asyncio
from http.cookiejar import CookieJar, DefaultCookiePolicy

import aiohttp
import httpx

from .catalogue import Model
from .local import LocalModel
from .patience import Deadlines, Retries
from .reply import Reply
from .request import Account, Request, to_local, to_workers_ai
from .transport import HEADERS, TIMEOUT, Transport

__all__ = ["Account", "Client", "Deadlines", "Retries"]

DEADLINES, RETRIES = Deadlines(), Retries()
BITE = 0.04  # seconds between two reads of a reply
VERIFY = 5.0  # seconds for both addresses together
REFUSED = {400, 401, 403, 404}  # what a token that is not accepted gets


class Client:
    """To be made on the event loop that it works on."""

    def __init__(
        self,
        account: Account | None,
        local: LocalModel | None,
        *,
        deadlines: Deadlines = DEADLINES,
        retries: Retries = RETRIES,
        bite: float = BITE,
    ) -> None:
        self._account = account
        self._local = local
        self._deadlines = deadlines
        self._retries = retries
        self._bite = bite
        self._transport = Transport()
        self._http = httpx.AsyncClient(
            transport=self._transport,
            timeout=TIMEOUT,
            # One person's cookie must never go out with another's question.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers=HEADERS,
            follow_redirects=False,
            trust_env=False,
        )

    def reply(
        self, messages: list[dict[str, str]], model: Model, *, max_tokens: int, affinity: str = ""
    ) -> Reply:
        """Ask for a reply; nothing is sent before it is iterated. `max_tokens` as `budget.fit` gives it."""

        async def request() -> Request:
            if model.local:
                assert self._local is not None
                await self._local.start()
                return to_local(self._local.base_url, self._local.key, messages, model, max_tokens)
            assert self._account is not None
            return to_workers_ai(self._account, messages, model, max_tokens, affinity)

        return Reply(
            self._transport,
            request,
            max_tokens=max_tokens,
            inline_reasoning=model.inline_reasoning,
            deadlines=self._deadlines,
            retries=self._retries,
            bite=self._bite,
        )

    async def verify(self) -> bool | None:
        """Whether Cloudflare accepts the token, a person's or an account's; None where it cannot be asked."""
        if self._account is None:
            return None
        accepted: bool | None = False
        try:
            async with asyncio.timeout(VERIFY):
                for path in ("/user/tokens/verify", f"/accounts/{self._account.account_id}/tokens/verify"):
                    accepted = await self._verify_at(self._account, path)
                    if accepted is not False:
                        break
        except (httpx.HTTPError, aiohttp.ClientError, OSError):  # the deadline's TimeoutError is an OSError
            return None
        return accepted

    async def _verify_at(self, account: Account, path: str) -> bool | None:
        headers = {"Authorization": f"Bearer {account.token}"}
        answer = await self._http.get(account.base_url + path, headers=headers)
        if not answer.is_success:
            return False if answer.status_code in REFUSED else None
        try:
            return bool(answer.json()["result"]["status"] == "active")
        except (ValueError, LookupError, TypeError):
            return None  # somebody else answers here

    async def aclose(self) -> None:
        await self._http.aclose()

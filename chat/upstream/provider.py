"""The providers of models that do not run on this machine."""

from enum import StrEnum


class Provider(StrEnum):
    """A kind of provider.

    `GATEWAY`: a third-party provider behind an AI Gateway of the account. `ENDPOINT`: the operator's own
    server, which speaks OpenAI's API. `AI_SEARCH`: an instance of AI Search of the account, which answers
    from the documents that it has indexed.
    """

    WORKERS_AI = "workers-ai"
    GATEWAY = "gateway"
    ENDPOINT = "endpoint"
    AI_SEARCH = "ai-search"

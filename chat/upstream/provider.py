"""Who serves a model that does not run on this machine."""

from enum import StrEnum


class Provider(StrEnum):
    """`GATEWAY`: another provider, behind an AI Gateway of the account. `ENDPOINT`: the operator's server of
    OpenAI's API.
    """

    WORKERS_AI = "workers-ai"
    GATEWAY = "gateway"
    ENDPOINT = "endpoint"

"""The description of the API: it names every route, and calls made from it never break the server."""

import re
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance

from chat.api.description import described
from tests.api.program import MODEL, Program
from tests.server import PATIENCE, Server
from tests.views.objects import routes

EXAMPLES = 25  # for each operation
CHECKS = (not_a_server_error, response_schema_conformance)


def of_one_model() -> dict[str, Any]:
    """The description, with a model that is there: others are refused before anything is asked."""
    found = described()
    known = {"enum": [MODEL]}
    for name in ("Chat", "NamedRun"):
        found["components"]["schemas"][name]["properties"]["model"] = known
    for path in found["paths"].values():
        for call in path.values():
            for parameter in call.get("parameters", ()):
                if parameter["name"] == "model":
                    parameter["schema"] = known
    return found


schema = schemathesis.openapi.from_dict(of_one_model())


def test_it_names_every_route() -> None:
    of_the_api = [route for route in routes() if route.startswith(("v1/", "client/"))]
    assert set(described()["paths"]) == {"/" + re.sub(r"<\w+:(\w+)>", r"{\1}", each) for each in of_the_api}


def test_it_is_served_to_everybody(server: Server) -> None:
    answer = server.person("").get("/v1/openapi.json")
    assert answer.status_code == 200
    assert answer.json()["paths"] == described()["paths"]
    assert answer.json()["servers"] == [
        {"url": server.env.get("SITE_URL") or f"http://localhost:{server.port}"}
    ]


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
def test_no_call_breaks_the_server(case: schemathesis.Case, server: Server, alices: Program) -> None:
    headers = {"Authorization": f"Bearer {alices.key}"}
    case.call_and_validate(base_url=server.url, headers=headers, checks=list(CHECKS), timeout=PATIENCE)

"""The description of the API: it names every route, and calls made from it never break the server."""

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from chat.api.openapi import described
from tests.api.client import MODEL, Program
from tests.support.server import PATIENCE, Server
from tests.views.objects import routes

EXAMPLES = 25  # for each operation
OPERATIONS = [(path, method) for path, calls in described()["paths"].items() for method in calls]


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


def test_it_names_every_route() -> None:
    of_the_api = [route for route in routes() if route.startswith(("v1/", "client/"))]
    assert set(described()["paths"]) == {"/" + re.sub(r"<\w+:(\w+)>", r"{\1}", each) for each in of_the_api}


def test_it_is_served_to_everybody(server: Server) -> None:
    response = server.person("").get("/v1/openapi.json")
    assert response.status_code == 200
    assert response.json()["paths"] == described()["paths"]
    assert response.json()["servers"] == [
        {"url": server.env.get("SITE_URL") or f"http://localhost:{server.port}"}
    ]


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_no_call_breaks_the_server(path: str, method: str, server: Server, alices: Program) -> None:
    # Not at the top: they take seconds to import, and each process of a run imports this file.
    from schemathesis import Case, GenerationMode, openapi
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import response_schema_conformance

    operation = openapi.from_dict(of_one_model())[path][method]
    checks = [not_a_server_error, response_schema_conformance]
    headers = {"Authorization": f"Bearer {alices.key}"}

    @given(st.one_of([operation.as_strategy(mode) for mode in GenerationMode]))
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        derandomize=True,
    )
    def check_call(case: Case) -> None:
        case.call_and_validate(base_url=server.url, headers=headers, checks=checks, timeout=PATIENCE)

    check_call()

"""The examples of deploy/ agree with one another, with the settings, and with the limits of the code."""

import json
import re
import uuid
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client
from django.urls import resolve, reverse
from twisted.web.http import HTTPFactory

from chat.engine.engine import PING_SECONDS
from chat.files.receiving import body_limit
from chat.limits import MAX_BODY_BYTES
from chat.upstream.http_transport import Timeouts
from chatsite.env import SETTING_NAMES
from chatsite.server.early_errors import TOO_LONG
from chatsite.server.large_bodies import API_PATHS
from tests.deploy.dockerfile import instructions
from tests.deploy.fronts import DEPLOY
from tests.deploy.units import unit
from tests.support.documentation import FILES, PAGES
from tests.support.manage import READ_BY_THE_SITE

SECONDS = {"s": 1, "m": 60}
SECRETS = {"SECRET_KEY", "CLOUDFLARE_API_TOKEN", "OPENAI_API_KEY", "DATABASE_URL", "REDIS_URL"}
STORE_SECONDS = 15  # to end the last tasks and threads after the grace: see ChatServer and server_process
NGINX = (DEPLOY / "nginx.conf").read_text("utf-8")
CADDY = (DEPLOY / "Caddyfile").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
CLUSTER: list[dict[str, Any]] = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text("utf-8")))
ASSIGNED = re.compile(r"\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)=")
OURS = {"CHAT_HOST", "CHAT_UPSTREAM"}  # of the Caddyfile and the compose file


def seconds(text: str) -> int:
    return int(text[:-1]) * SECONDS[text[-1]]


def found(pattern: str, text: str) -> str:
    (only,) = re.findall(pattern, text, re.MULTILINE)
    return str(only)


def of_kind(kind: str) -> dict[str, Any]:
    (only,) = [each for each in CLUSTER if each["kind"] == kind]
    return only


def pod(of: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = of["spec"].get("jobTemplate", of)["spec"]["template"]["spec"]
    return spec


CHAT = pod(of_kind("Deployment"))["containers"][0]
BACKUP = pod(of_kind("CronJob"))["containers"][0]


def environment(container: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in container["env"]}


ENVIRONMENTS = {
    "compose": COMPOSE["services"]["chat"]["environment"],
    "deployment": environment(CHAT),
    "backup": environment(BACKUP),
    "image": dict(pair.split("=") for word, rest in instructions() if word == "ENV" for pair in rest.split()),
}


@pytest.mark.parametrize("where", ENVIRONMENTS)
def test_every_setting_exists(where: str) -> None:
    for name in ENVIRONMENTS[where]:
        secret = name.removesuffix("_FILE")
        assert name in READ_BY_THE_SITE
        assert secret == name or secret in SECRETS


@pytest.mark.parametrize("where", ENVIRONMENTS)
def test_a_secret_comes_from_a_file(where: str) -> None:
    given = ENVIRONMENTS[where]
    assert not given.keys() & (SECRETS - {"REDIS_URL"})
    assert "@" not in given.get("REDIS_URL", "")


@pytest.mark.parametrize("path", sorted({*filter(Path.is_file, DEPLOY.rglob("*")), *FILES}), ids=str)
def test_every_setting_that_is_assigned_in_words_exists(path: Path) -> None:
    if path.suffix in (".svg", ".webp"):
        return
    named = {name for name in ASSIGNED.findall(path.read_text("utf-8")) if name not in OURS}
    assert named <= READ_BY_THE_SITE


def test_a_whole_reply_may_take_as_long_through_nginx_as_it_may() -> None:
    wait = seconds(found(r"proxy_read_timeout (\d+[sm]);", NGINX))
    assert wait >= Timeouts().total + 30
    assert wait > 2 * PING_SECONDS


def test_caddy_has_no_limit_on_a_response() -> None:
    assert not re.search(r"response_header_timeout|read_timeout|write\b", CADDY)


@pytest.mark.parametrize(
    "kept", [found(r"^    keepalive_timeout (\d+[sm]);", NGINX), found(r"^\t+keepalive (\d+[sm])\b", CADDY)]
)
def test_a_proxy_ends_an_idle_connection_before_the_server_does(kept: str) -> None:
    """Else a request may be on its way while the server closes, and a POST is not sent again."""
    assert seconds(kept) < HTTPFactory().timeOut


def test_nginx_refuses_what_the_chat_refuses_in_the_same_words() -> None:
    assert int(found(r"client_max_body_size (\d+)m;", NGINX)) * 1_048_576 == MAX_BODY_BYTES
    assert json.loads(found(r"return 413 '(.*)';", NGINX)) == json.loads(TOO_LONG.body)


def test_nginx_passes_on_what_the_chat_takes_in_larger_bodies() -> None:
    """Other paths have the limit of all bodies, which nginx keeps itself."""
    one = uuid.UUID(int=0)
    uploads = [
        *("/admin/site/", "/attachments/", "/c/", f"/c/{one}/messages/"),
        *(f"/settings/assistants/{each}" for each in ("", f"{one}/")),
    ]
    programs = [
        "/v1/chat/completions",
        "/client/v4/accounts/acc/ai/run",
        "/client/v4/accounts/acc/ai/run/@cf/a/b",
        "/client/v4/accounts/acc/ai/v1/chat/completions",
    ]
    assert all(body_limit(path.encode(), b"multipart/form-data") for path in uploads)
    assert all(API_PATHS.match(path.encode()) for path in programs)
    passed_on = re.compile("|".join(re.findall(r"location ~ (\S+) \{\n +client_max_body_size 0;", NGINX)))
    others = [
        "/",
        "/v1/models",
        f"/c/{one}/",
        f"/messages/{one}/edit/",
        "/accounts/login/",
        "/settings/data/",
    ]
    assert all(passed_on.search(path) for path in [*uploads, *programs, reverse("chat:import")])
    assert not any(passed_on.search(path) for path in others)


def test_each_stop_waits_for_the_last_replies() -> None:
    default = int(SETTING_NAMES["DRAIN_SECONDS"])
    assert int(unit("chat.service")["Service"]["TimeoutStopSec"]) >= default + STORE_SECONDS
    assert seconds(COMPOSE["services"]["chat"]["stop_grace_period"]) >= default + STORE_SECONDS
    pause = int(CHAT["lifecycle"]["preStop"]["exec"]["command"][1])
    drain = int(environment(CHAT)["DRAIN_SECONDS"])
    assert pod(of_kind("Deployment"))["terminationGracePeriodSeconds"] >= pause + drain + STORE_SECONDS


def test_a_release_is_installed_where_the_service_can_read_it() -> None:
    """`ProtectHome` hides a Python in a home, as root's may be; a careful root's umask hides all."""
    assert unit("chat.service")["Service"]["ProtectHome"] == "yes"
    lines = PAGES["docs/operating.md"].partition("### A release")[2].split("```")[1].splitlines()
    assert "umask 022" in lines
    assert 'make --directory "$release" PYTHON=/usr/bin/python3 install' in lines


def test_one_image_serves_and_backs_up() -> None:
    assert CHAT["image"] == BACKUP["image"]
    assert COMPOSE["services"]["chat"]["build"] == {"context": "..", "dockerfile": "deploy/Dockerfile"}


def test_a_pod_writes_its_volumes_only_as_the_images_user() -> None:
    (user,) = {rest.split(":")[0] for word, rest in instructions() if word == "USER"}
    for spec in (pod(of_kind("Deployment")), pod(of_kind("CronJob"))):
        (container,) = spec["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert spec["securityContext"]["runAsUser"] == spec["securityContext"]["fsGroup"] == int(user)
        assert spec["automountServiceAccountToken"] is False
        mounted = {each["name"] for each in container["volumeMounts"]}
        assert mounted == {each["name"] for each in spec["volumes"]}


def test_the_compose_services_may_write_their_volumes_only() -> None:
    services = COMPOSE["services"]
    for name in ("chat", "proxy", "redis"):
        assert services[name]["read_only"] is True
    assert services["chat"]["cap_drop"] == ["ALL"]
    assert {name for name in services if "ports" in services[name]} == {"proxy"}
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    used = {each for service in services.values() for each in service.get("secrets", [])}
    assert used == COMPOSE["secrets"].keys()


def test_the_probes_are_answered() -> None:
    """By the host name that they write, and not by the address of the pod."""
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        http_get = CHAT[probe]["httpGet"]
        (header,) = http_get["httpHeaders"]
        assert resolve(http_get["path"]).url_name in ("healthz", "readyz")
        assert Client().get("/healthz", headers={"host": header["value"]}).status_code == 200
        assert Client().get("/healthz", headers={"host": "10.0.0.7:8000"}).status_code == 400

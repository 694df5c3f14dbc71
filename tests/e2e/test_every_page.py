"""Each page of the URL conf fits, and axe-core finds nothing on it: light and dark, on a desk and on a phone.

The addresses are those of the table of rights, which has them all, so a new page is visited unasked. It fails
here until it can be: if it needs an object that is not planted, or a right that its visitor lacks.
"""

import re
from collections import defaultdict
from dataclasses import replace

import pytest
from playwright.sync_api import Page

from tests.admin.seed_cli import plant
from tests.e2e.axe import WINDOW, findings
from tests.e2e.chat_page import Window
from tests.support.server import Server
from tests.views.objects import Turn, address, make_turn
from tests.views.rights import ROWS, Row

WIDTHS = (1280, 390)
PLANTED = """
from django.contrib.admin.utils import quote
from django.contrib.auth.models import Group, Permission
from django.contrib.auth.tokens import default_token_generator
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from chat.models import Invite, McpServer, McpTool, SiteModel
bread = talk("alice", "Sourdough", 2, reply="Into the **fridge**:\\n\\n```python\\nrest({n})\\n```",
    reasoning="They ask about the cold.")
first, reply = messages_of(bread)[:2]
judge(reply, False, "It forgot the flour.")
branch(reply, bread, question="And without?", reply="", status="failed", error_code="busy",
    error_message="The model is busy.", request_id="req-77", completion_tokens=None)
talks("alice", ["Boats one", "Boats two", "Boats three"])
person("alice").user_permissions.set(Permission.objects.filter(codename__startswith="publish_"))
invite = Invite(made_by=person("root"))
token = invite.generate_token()
invite.save()
bob = person("bob")
group = Group.objects.create(name="Family")
wiki = McpServer.objects.create(name="wiki", label="Wiki", url="https://wiki.example/mcp", enabled=False)
McpTool.objects.create(server=wiki, name="look", description="Looks.", accepted={})
model = quote(SiteModel.objects.first().pk)
reset = urlsafe_base64_encode(force_bytes(bob.pk)) + "/" + default_token_generator.make_token(bob)
print(bread.pk, bob.pk, group.pk, invite.pk, wiki.pk, model, token, reset)
"""
# Parts of routes that what is planted takes the place of: the last ones that are printed, in order.
ROUTES = (
    "group/<path:object_id>",
    "invite/<path:object_id>",
    "mcpserver/<path:object_id>",
    "sitemodel/<path:object_id>",
    "invite/<str:token>",
    "<str:uidb64>/<str:token>",
)
# States of a page that its bare address does not show.
MORE = (
    "/?temporary=on", "/settings/?saved=1", "/search/?q=hello", "/admin/chat/user/?role=reviewer",
    "/admin/chat/run/rates/?period=week", "/admin/chat/conversation/?q=bread",
)  # fmt: skip
NOWHERE = {
    "admin/<url>", "admin/r/<path:content_type_id>/<path:object_id>/", "metrics",  # no page
    "site/<site_picture:kind>/<version:version>/",  # a picture
    "accounts/setup/<str:token>/",  # for a new site's first person: see test_axe.py
    "messages/<uuid:message>/run/",  # what a model wrote
}  # fmt: skip
SIGNED_OUT = re.compile(r"s/|accounts/(login|setup|invite|reset)/")
Pages = dict[str, list[str]]


def visitor(route: str) -> str:
    if SIGNED_OUT.match(route):
        return ""
    return "root" if route.startswith("admin/") else "alice"


def path(row: Row, turn: Turn, planted: dict[str, str]) -> str:
    """Return the address of a row, with what was planted in it, or else what the turn has."""
    for name, value in planted.items():
        if name in row.route:
            return "/" + row.route.replace(name, value)
    return address(row, turn)


@pytest.fixture(scope="module")
def pages(server: Server) -> Pages:
    """The addresses of all pages, by who visits them."""
    bread, bob, *keys = plant(server, PLANTED)
    planted = {part: re.sub("<.*>", key, part) for part, key in zip(ROUTES, keys, strict=True)}
    turn = replace(make_turn(server.person("alice"), picture=True), person=bob)
    found: Pages = defaultdict(list)
    unseen = []
    for row in ROWS:
        if "GET" not in row.methods.split() or row.route in NOWHERE:
            continue
        who, at = visitor(row.route), path(row, turn, planted)
        shown = server.person(who).get(at, follow_redirects="/reset/" in at)
        status, where = str(shown.status_code), shown.headers.get("Location", "")
        if status == "200" and "<!doctype html" in shown.text[:100].lower():
            found[who].append(at)
        elif where == "/admin/" or status == "404" or status not in row.responses[who].split():
            unseen.append(f"{row}: {status} {where}")  # a missing object, or a missing right
    assert unseen == []
    for at in (*MORE, f"/admin/chat/conversation/{bread}/change/", f"/c/{bread}/"):
        found[visitor(at[1:])].append(at)
    return {who: list(dict.fromkeys(addresses)) for who, addresses in found.items()}


def wrong(page: Page) -> list[str]:
    """Return what axe-core finds at each width, and whether something stands out of the page."""
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function("width => innerWidth === width", arg=width)
        found += [f"{width}: {finding}" for finding in findings(page)]
        if not page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
            found.append(f"{width}: wider than the window")
    return found


@pytest.mark.parametrize(("who", "least"), [("", 5), ("alice", 38), ("root", 35)])
def test_nothing_is_wrong_on_any_page(
    window: Window, server: Server, pages: Pages, who: str, least: int
) -> None:
    assert len(pages[who]) >= least
    page = window(server, who, **WINDOW)
    found: list[str] = []
    for each in pages[who]:
        page.goto(each)
        found += [f"{each} {problem}" for problem in wrong(page)]
    assert not found, "\n".join(found)

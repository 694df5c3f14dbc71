"""The response to each role at each URL, by method: the table that test_rights.py walks.

A method that no row of an address names is a 405 for everybody. A response is a status, and where it leads.
The object in an address is a conversation of alice's, one that she deleted, or one that never was.
"""

from dataclasses import dataclass, field

from tests.support.people import PASSWORD

OUT = ("", "dave")  # signed out; disabled
PEOPLE = ("alice", "bob")
STAFF = ("carol", "erin", "root")  # without a right; may review; may everything
ROLES = (*OUT, *PEOPLE, *STAFF)
SAFE = "GET HEAD"
ALL = "GET HEAD POST PUT DELETE OPTIONS"
LOGIN = "302 /accounts/login/"
ADMIN_LOGIN = "302 /admin/login/"
Responses = dict[str, str]


@dataclass(frozen=True)
class Row:
    """`responses` by role where the object exists; `deleted` and `missing` for roles with a right to it."""

    route: str  # as Django writes it
    methods: str
    responses: Responses
    body: dict[str, object] | None = None
    deleted: str | Responses = "404"
    missing: str = "404"
    query: str = ""
    message: str = "reply"  # which of the turn's messages the address is about
    signs_out: bool = False
    records: bool = False  # a look at another's conversation is written down
    fresh: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        changes = not set(self.methods.split()) <= set(SAFE.split())
        object.__setattr__(self, "fresh", changes and "<uuid:" in self.route)

    def __str__(self) -> str:
        return f"{self.methods} /{self.route}"

    @property
    def about(self) -> bool:
        """Return True if the URL names an object."""
        return any(name in self.route for name in ("<uuid:", "object_id", "<id>")) or self.route.startswith(
            "s/"
        )

    def expected(self, role: str, what: str) -> str:
        """Return the response to `role` for an object that is `own` to alice, `deleted` or `missing`."""
        response = self.responses[role]
        refused = response[0] == "4" or response in (LOGIN, ADMIN_LOGIN)
        if what == "own" or refused or not self.about:
            return response
        if what == "deleted" and isinstance(self.deleted, dict):
            return self.deleted[role]
        return str(self.deleted) if what == "deleted" else self.missing


def for_all(response: str) -> Responses:
    return dict.fromkeys(ROLES, response)


def signed_in(response: str = "200", *, out: str = LOGIN) -> Responses:
    return for_all(response) | dict.fromkeys(OUT, out)


def owner(response: str = "200", *, out: str = "401") -> Responses:
    """alice; a stranger's object is to everybody else as if it were not there, to staff and root too."""
    return signed_in("404", out=out) | {"alice": response}


def staff(response: str, *, those: tuple[str, ...] = STAFF, others: str = "403") -> Responses:
    """Return the responses in the admin: non-staff get its login, staff without the right `others`."""
    return for_all(ADMIN_LOGIN) | dict.fromkeys(STAFF, others) | dict.fromkeys(those, response)


def log(model: str, readers: tuple[str, ...], *, one: str = "403") -> list[Row]:
    """A table of the log in the admin: to be read, by nobody to be changed. `one` is the page of one row."""
    base, nobody = f"admin/chat/{model}/", staff("403")
    read = staff(one, those=readers)
    return [
        Row(base, SAFE, staff("200", those=readers), records=model == "conversation"),
        Row(f"{base}add/", SAFE, nobody),
        Row(f"{base}<path:object_id>/change/", SAFE, read, deleted=one, records=one == "200"),
        Row(f"{base}<path:object_id>/history/", SAFE, nobody),
        Row(f"{base}<path:object_id>/delete/", SAFE, nobody),
        away(base, SAFE),
    ]


def root(response: str) -> Responses:
    return staff(response, those=("root",))


def table(name: str, changed: str = "302 /admin/") -> list[Row]:
    """A table that Django's own pages show and change, for the superuser only; no row of it is asked for."""
    base, gone = f"admin/{name}/", "302 /admin/"
    one = f"{base}<path:object_id>"
    return [
        Row(base, ALL, root("200")),
        Row(f"{base}add/", ALL, root("200")),
        Row(f"{one}/change/", SAFE + " PUT DELETE OPTIONS", root(gone), deleted=gone, missing=gone),
        Row(f"{one}/change/", "POST", root(changed), deleted=changed, missing=changed),
        Row(f"{one}/history/", ALL, root(gone), deleted=gone, missing=gone),
        Row(f"{one}/delete/", ALL, root(gone), deleted=gone, missing=gone),
        away(base, ALL),
    ]


def decided(model: str) -> list[Row]:
    """A table whose rows come by themselves; the superuser changes them. No row of it is asked for."""
    base, gone = f"admin/chat/{model}/", "302 /admin/"
    one = f"{base}<path:object_id>"
    return [
        Row(base, ALL, root("200")),
        Row(f"{base}add/", ALL, staff("403")),
        Row(f"{one}/change/", ALL, root(gone), deleted=gone, missing=gone),
        Row(f"{one}/history/", ALL, root(gone), deleted=gone, missing=gone),
        Row(f"{one}/delete/", ALL, staff("403")),
        away(base, ALL),
    ]


def renamed(former: str, model: str) -> list[Row]:
    """The addresses of a table under its former name. The rights are those of the page they lead to."""
    return [
        Row(f"admin/chat/{former}/", ALL, for_all(f"308 /admin/chat/{model}/")),
        Row(f"admin/chat/{former}/<path:rest>", ALL, for_all(f"308 /admin/chat/{model}/1/change/")),
    ]


def away(base: str, methods: str) -> Row:
    """The address that these pages had before Django 1.9."""
    to = f"302 /{base}…/change/"
    return Row(f"{base}<path:object_id>/", methods, staff(to), deleted=to, missing=to)


def revocable(model: str, readers: tuple[str, ...]) -> list[Row]:
    """A list from which rows are revoked, and nothing else."""
    base, nobody = f"admin/chat/{model}/", staff("403")
    one = f"{base}<path:object_id>"
    return [
        Row(base, ALL, staff("200", those=readers)),
        Row(f"{base}add/", ALL, nobody),
        *(Row(f"{one}/{page}/", ALL, nobody) for page in ("change", "history", "delete")),
        away(base, ALL),
    ]


TO_DISABLED = "302 /admin/chat/user/…/change/"
QUESTION = {"content": "hello"}
NOBODYS = "00000000-0000-0000-0000-000000000000"
IMPORT = {"job": NOBODYS}
REVIEWED = dict.fromkeys(("erin", "root"), "200")
# A session is worth nothing to the API: what its keys open is in tests/api.
AI = "client/v4/accounts/<str:account>/ai/"
API = [
    Row("v1/chat/completions", "POST", for_all("401")),
    Row("v1/openapi.json", SAFE, for_all("200")),
    Row("v1/models", SAFE, for_all("401")),
    Row("v1/conversations", SAFE, for_all("401")),
    Row("v1/conversations/<uuid:conversation>", SAFE, for_all("401")),
    Row("v1/export", SAFE, for_all("401")),
    Row("v1/models/<name:model>", SAFE, for_all("401")),
    Row(f"{AI}run", "POST", for_all("401")),
    Row(f"{AI}run/<name:model>", "POST", for_all("401")),
    Row(f"{AI}v1/chat/completions", "POST", for_all("401")),
    Row(f"{AI}models/search", SAFE, for_all("401")),
    Row(f"{AI}models/schema", SAFE, for_all("401")),
    Row(f"{AI}finetunes", SAFE, for_all("401")),
    Row("client/v4/user/tokens/verify", SAFE, for_all("401")),
    Row("client/v4/accounts/<str:account>/tokens/verify", SAFE, for_all("401")),
]
CHAT = [
    Row("", SAFE, signed_in()),
    Row("c/", "POST", signed_in(out="401"), QUESTION),
    Row("c/<uuid:conversation>/", SAFE, owner(out=LOGIN)),
    Row("c/<uuid:conversation>/messages/", "POST", owner(), QUESTION),
    Row("c/<uuid:conversation>/rename/", "POST", owner(), {"title": "Another"}),
    Row("c/<uuid:conversation>/settings/", "POST", owner(), {"system": "Be brief."}),
    Row("c/<uuid:conversation>/state/", SAFE, owner(out=LOGIN)),
    Row("c/<uuid:conversation>/context/", SAFE, owner(out=LOGIN)),
    Row("c/<uuid:conversation>/seen/", "POST", owner()),
    Row("c/<uuid:conversation>/delete/", "POST", owner()),
    Row("c/<uuid:conversation>/undelete/", "POST", owner(), deleted="200"),
    Row("c/<uuid:conversation>/export/", SAFE, owner(out=LOGIN), query="format=json"),
    Row("c/<uuid:conversation>/tags/", SAFE, owner(out=LOGIN)),
    Row("attachments/parts/", SAFE, signed_in(out="401")),
    Row("attachments/", "POST", signed_in("415", out="401"), {"file": "no file"}),
    Row(
        "attachments/<uuid:attachment>/",
        SAFE,
        owner() | REVIEWED,
        deleted=for_all("404") | REVIEWED,
        records=True,
    ),
    Row(
        "attachments/<uuid:document>/text/",
        SAFE,
        owner(out=LOGIN) | REVIEWED,
        deleted=for_all("404") | REVIEWED,
        records=True,
    ),
    Row("attachments/<uuid:attachment>/", "POST PATCH", owner(), {"alt": "a cat"}),
    Row("attachments/<uuid:attachment>/", "DELETE", owner("409")),
    Row("conversations/", SAFE, signed_in()),
    Row("conversations/", "POST", signed_in("404", out="401"), {"action": "pin", "conversations": [NOBODYS]}),
    Row("conversations/export/", "POST", signed_in("404", out="401"), {"conversations": [NOBODYS]}),
    Row("conversations/archive/", SAFE, signed_in()),
    Row("conversations/trash/", SAFE, signed_in()),
    Row("search/", SAFE, signed_in(), query="q=secret"),
    Row("shortcuts/", SAFE, signed_in()),
    Row("models/", SAFE, signed_in(out="401")),
    Row(
        "models/favourites/",
        "POST",
        signed_in(out="401"),
        {"model": "@cf/zai-org/glm-4.7-flash", "favourite": True},
    ),
    Row("models/parameters/", SAFE, signed_in(out="401")),
    Row("prompts/", SAFE, signed_in(out="401")),
    Row("prompts/<uuid:prompt>/", SAFE, owner()),
    Row("readings/", SAFE, signed_in()),
    Row("checklist/dismiss/", "POST", signed_in("303 /", out="401")),
    Row("settings/", SAFE, signed_in()),
    Row("settings/", "POST", signed_in(out="401"), {"theme": "system"}),
    Row("settings/instructions/", SAFE, signed_in()),
    Row("settings/instructions/", "POST", signed_in(out="401"), {"instructions": "Be brief."}),
    Row("settings/memory/", SAFE, signed_in()),
    Row("settings/memory/", "POST", signed_in("201", out="401"), {"fact": "I like tea."}),
    Row("settings/memory/switch/", "POST", signed_in(out="401"), {"memory": "on"}),
    Row("settings/memory/<uuid:memory>/", SAFE, owner(out=LOGIN)),
    Row("settings/memory/<uuid:memory>/", "POST", owner(), {"fact": "I like coffee."}),
    Row("settings/memory/<uuid:memory>/delete/", "POST", owner()),
    Row("settings/memory/delete/", "POST", signed_in(out="401")),
    Row("settings/account/", f"{SAFE} POST", signed_in()),
    Row("settings/readings/", SAFE, signed_in()),
    Row("settings/usage/", SAFE, signed_in()),
    Row("settings/assistants/", SAFE, signed_in()),
    Row("settings/assistants/", "POST", signed_in("201", out="401"), {"name": "Cook"}),
    Row("settings/assistants/new/", SAFE, signed_in()),
    Row("settings/assistants/ready/", "POST", signed_in("201", out="401"), {"name": "letters"}),
    Row("settings/assistants/<uuid:assistant>/", SAFE, owner(out=LOGIN)),
    Row("settings/assistants/<uuid:assistant>/", "POST", owner(), {"name": "Cook"}),
    Row("settings/assistants/<uuid:assistant>/delete/", "POST", owner()),
    Row("settings/assistants/<uuid:assistant>/undelete/", "POST", owner(), deleted="200"),
    Row("settings/assistants/<uuid:assistant>/duplicate/", "POST", owner("201")),
    Row("settings/assistants/<uuid:assistant>/publish/", SAFE, signed_in("403") | {"root": "404"}),
    Row(
        "settings/assistants/<uuid:assistant>/publish/", "POST", signed_in("403", out="401") | {"root": "404"}
    ),
    Row("settings/api/", SAFE, signed_in()),
    Row("settings/data/", SAFE, signed_in()),
    Row("settings/data/export/", SAFE, signed_in()),
    Row("settings/data/import/", "POST", signed_in("403", out="401")),  # without a permit
    Row("settings/data/import/start/", "POST", signed_in("404", out="401"), IMPORT),
    Row("settings/data/import/stop/", "POST", signed_in("404", out="401"), IMPORT),
    Row("settings/data/import/progress/", SAFE, signed_in()),
    Row("settings/shared/", SAFE, signed_in()),
    Row("settings/shared/<uuid:link>/revoke/", "POST", owner()),
    Row("s/<str:token>/", SAFE, for_all("200")),
    Row("s/<str:token>/attachments/<uuid:attachment>/", SAFE, for_all("200")),
    Row("s/<str:token>/attachments/<uuid:document>/text/", SAFE, for_all("200")),
    Row("s/<str:token>/continue/", SAFE, signed_in()),
    Row("s/<str:token>/continue/", "POST", signed_in("201", out="401")),
    Row("settings/prompts/", SAFE, signed_in()),
    Row("settings/prompts/", "POST", signed_in("201", out="401"), {"title": "A prompt", "text": "Hello"}),
    Row("settings/prompts/new/", SAFE, signed_in()),
    Row("settings/prompts/<uuid:prompt>/", SAFE, owner(out=LOGIN)),
    Row("settings/prompts/<uuid:prompt>/", "POST", owner(), {"title": "Another", "text": "Hello"}),
    Row("settings/prompts/<uuid:prompt>/use/", SAFE, owner(out=LOGIN)),
    Row("settings/prompts/<uuid:prompt>/use/", "POST", owner()),
    Row("settings/prompts/<uuid:prompt>/delete/", "POST", owner()),
    Row("settings/prompts/<uuid:prompt>/withdraw/", "POST", signed_in("403", out="401") | {"root": "404"}),
    Row("settings/keys/", SAFE, signed_in()),
    Row(
        "settings/keys/",
        "POST",
        signed_in("201", out="401"),
        {"name": "a program", "run": True, "password": PASSWORD},
    ),
    Row("settings/keys/<uuid:key>/revoke/", "POST", owner(), deleted="200"),
    Row("messages/<uuid:message>/edit/", "POST", owner(), QUESTION, message="question"),
    Row("messages/<uuid:message>/regenerate/", "POST", owner()),
    Row("messages/<uuid:message>/continue/", "POST", owner()),
    Row("messages/<uuid:message>/select/", "POST", owner()),
    Row("messages/<uuid:message>/feedback/", "POST", owner(), {"thumb": "up"}),
    Row("messages/<uuid:message>/outcome/", SAFE, owner()),
    Row("messages/<uuid:message>/source/", SAFE, owner()),
    Row("messages/<uuid:message>/text/", SAFE, owner(out=LOGIN)),
    Row("messages/<uuid:message>/text/", "POST", owner(), {"text": "Better."}),
    Row("messages/<uuid:message>/changes/", SAFE, owner(out=LOGIN)),
    Row("messages/<uuid:message>/run/", SAFE, owner(out=LOGIN), query="block=1"),
    Row("mermaid-12.0.0.js", SAFE, for_all("200")),
    Row("messages/<uuid:message>/actions/", SAFE, owner()),
    Row("c/<uuid:conversation>/share/", SAFE, owner("302 /messages/…/share/", out=LOGIN)),
    Row("messages/<uuid:message>/share/", SAFE, owner(out=LOGIN)),
    Row("messages/<uuid:message>/share/", "POST", owner("201"), {"days": "7"}),
    Row("messages/<uuid:message>/fork/", "POST", owner("201")),
    Row("messages/<uuid:message>/delete/", "POST", owner()),
    Row("messages/<uuid:message>/undelete/", "POST", owner()),
    Row("runs/<uuid:run>/stream/", "GET", owner()),
    Row("runs/<uuid:run>/stop/", "POST", owner("202")),
    # The reply has no step; tests/engine/test_waiting.py has those that wait.
    Row("runs/<uuid:run>/steps/<int:number>/allow/", "POST", owner("404")),
    Row("runs/<uuid:run>/steps/<int:number>/decline/", "POST", owner("404")),
    *API,
    Row("site/<version:version>/chat.webmanifest", SAFE, for_all("200")),
    Row("site/<site_picture:kind>/<version:version>/", SAFE, for_all("404")),  # there is no picture
    Row("healthz", SAFE, for_all("200")),
    Row("readyz", SAFE, for_all("200")),
    Row("metrics", SAFE, for_all("404")),  # off by default; tests/metrics turns them on
]
ACCOUNTS = [
    Row("accounts/login/", SAFE, signed_in("302 /", out="200")),
    Row("accounts/login/", "POST", signed_in("200", out="401")),
    Row("accounts/logout/", "POST", for_all("303 /accounts/login/"), signs_out=True),
    Row("accounts/setup/<str:token>/", f"{SAFE} POST", for_all("404")),
    Row("accounts/invite/<str:token>/", f"{SAFE} POST", for_all("404")),
    Row("accounts/password/", f"{SAFE} POST", signed_in()),
    Row("accounts/password/changed/", SAFE, signed_in()),
    Row("accounts/reset/<str:uidb64>/<str:token>/", ALL, for_all("404")),
]
ADMIN = [
    Row("admin/", ALL, staff("200")),
    Row("admin/checkup/", SAFE, root("200")),
    Row("admin/checkup/", "POST", root("200"), {"what": "setup"}),
    Row("admin/site/", SAFE, root("200")),
    Row("admin/site/", "POST", root("303 /admin/site/"), {"name": "Chat", "colour": "plum"}),
    Row("admin/connect/", SAFE, root("200")),
    Row("admin/connect/", "POST", root("400"), {"account": "acc"}),
    Row("admin/login/", ALL, signed_in("403")),
    Row("admin/logout/", "POST", for_all("303 /accounts/login/"), signs_out=True),
    Row("admin/password_change/", ALL, for_all("302 /accounts/password/")),
    Row("admin/password_change/done/", ALL, for_all("302 /accounts/password/")),
    Row("admin/autocomplete/", SAFE, staff("403")),
    Row("admin/autocomplete/", "POST PUT DELETE", staff("405")),
    Row("admin/autocomplete/", "OPTIONS", staff("200")),
    Row("admin/jsi18n/", f"{SAFE} OPTIONS", staff("200")),
    Row("admin/jsi18n/", "POST PUT DELETE", staff("405")),
    Row("admin/r/<path:content_type_id>/<path:object_id>/", ALL, staff("404")),
    Row("admin/<app_label>/", ALL, staff("200", those=("erin", "root"), others="404")),
    Row("admin/<url>", ALL, staff("404")),
    *log("conversation", ("erin", "root"), one="200"),
    *log("run", ("root",)),
    *log("call", ("root",)),
    *log("titlerequest", ("root",)),
    Row("admin/chat/run/rates/", SAFE, root("200")),
    *log("worker", ("root",)),
    *log("conversationaccess", ("root",)),
    Row("admin/chat/user/", ALL, root("200")),
    Row("admin/chat/user/add/", ALL, root("200")),
    Row("admin/chat/user/<path:object_id>/change/", ALL, root("200"), deleted="200", missing="302 /admin/"),
    Row("admin/chat/user/<path:object_id>/history/", ALL, root("200"), deleted="200", missing="302 /admin/"),
    Row("admin/chat/user/<path:object_id>/delete/", ALL, root("403")),
    Row("admin/chat/user/<id>/password/", ALL, root("200"), deleted="200"),
    Row("admin/chat/user/<id>/link/", ALL, root(TO_DISABLED), deleted=TO_DISABLED),
    away("admin/chat/user/", ALL),
    *decided("sitemodel"),
    Row("admin/chat/sitemodel/doors/", ALL, root("200")),
    *renamed("offeredmodel", "sitemodel"),
    *renamed("reading", "conversationaccess"),
    *table("chat/mcpserver"),
    *table("chat/invite", changed="403"),
    *revocable("apikey", ("root",)),
    *revocable("sharedlink", ("erin", "root")),
    *revocable("assistant", ("root",)),
    *table("auth/group"),
]
ROWS = [*CHAT, *ACCOUNTS, *ADMIN]

"""The tool servers (MCP), and which of their tools may be used."""

import hashlib
import ipaddress
import json
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from chat.conversations.tools.mcp import reading, servers
from chat.models import CatalogState, McpServer, McpTool
from chat.models.mcp import READ_EVERY

from .base import ChatAdmin, ConfirmedForm, ConfirmedFormMixin, LoggedValuesMixin
from .columns import groups_column, in_words

CHANGED_MEANWHILE = _("The server has changed this tool since. Read it again, then allow it.")


class ServerForm(ConfirmedForm, forms.ModelForm):
    """The form of a server; with its tools it decides where texts go, so it asks for the password."""

    class Meta:
        widgets = {"groups": forms.CheckboxSelectMultiple, "headers": forms.Textarea(attrs={"rows": 3})}

    def clean_headers(self) -> str:
        text = str(self.cleaned_data["headers"])
        try:
            servers.headers_of(text)
        except servers.HeaderProblem as problem:
            raise ValidationError(McpServer(error=str(problem)).problem) from None
        return text

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if (url := data.get("url")) and (wrong := _wrong_address(url, secret=bool(data.get("headers")))):
            self.add_error("url", wrong)
        return data


def _wrong_address(url: str, *, secret: bool) -> str:
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or parts.username is not None or parts.fragment or not url.isprintable() or " " in url:
        return gettext("Write an address that begins with https:// or http://, without a password.")
    if secret and parts.scheme == "http" and not _is_loopback(parts.hostname or ""):
        return gettext("Headers are sent by https:// only, except to this machine.")
    return ""


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class ToolForm(forms.ModelForm):
    """The form of a tool. What it allows is what the page showed: `seen`, a digest of that."""

    allowed = forms.BooleanField(label=_("allowed"), required=False)
    seen = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)

    class Meta:
        model = McpTool
        fields = ("asks_first",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial.update(allowed=self.instance.is_allowed, seen=_digest(self.instance))
        labels = {"allowed": _("Allow %(tool)s"), "asks_first": _("%(tool)s asks first")}
        for name, label in labels.items():
            self.fields[name].widget.attrs["aria-label"] = label % {"tool": self.instance}

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("allowed") and data.get("seen") != _digest(self.instance):
            self.add_error("allowed", CHANGED_MEANWHILE)
        return data

    def store(self) -> str:
        """Store what was chosen, and return it in words for the history."""
        row, fields = self.instance, {"asks_first": self.cleaned_data["asks_first"]}
        words = "asks first" if fields["asks_first"] else "runs unasked"
        if "allowed" in self.changed_data:
            is_allowed = self.cleaned_data["allowed"]
            fields["accepted"] = row.declared if is_allowed else None
            words = f"{'allowed' if is_allowed else 'not allowed'}, {words}"
        McpTool.objects.filter(pk=row.pk).update(**fields)
        return f"{row.name}: {words}"


def _digest(tool: McpTool) -> str:
    return hashlib.sha256(json.dumps(tool.declared, sort_keys=True).encode()).hexdigest()


class ToolInline(admin.TabularInline):
    """The tools, each with what the server says of it: text that anybody may have written."""

    model = McpTool
    form = ToolForm
    template = "admin/chat/mcpserver/tools.html"
    extra = max_num = 0
    can_delete = False
    fields = ("about", "allowed", "asks_first", "seen")
    readonly_fields = ("about", "allowed_")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Return what is told in place of the fields of the form to who may only look."""
        return self.fields if self.has_change_permission(request) else ("about", "allowed_", "asks_first")

    @property
    def media(self) -> forms.Media:
        """No script: rows are neither added nor removed here."""
        return forms.Media()

    @admin.display(description=_("allowed"), boolean=True)
    def allowed_(self, obj: McpTool) -> bool:
        return obj.is_allowed

    @admin.display(description=_("what the server says of it"))
    def about(self, obj: McpTool) -> SafeString:
        before = (obj.accepted or {}).get("description") if obj.has_changed else None
        notes = [
            (gettext("Changed since you allowed it: not offered until you allow it again."), obj.has_changed),
            (gettext("Before: %(words)s") % {"words": before}, before not in (None, obj.description)),
            (gettext("The server has no such tool any more."), not obj.listed),
            (gettext("Only reads, says the server."), obj.read_only),
        ]
        return format_html(
            "<code>{}</code><br><bdi>{}</bdi>{}<details><summary>{}</summary><pre>{}</pre></details>",
            obj.name,
            obj.description or "–",
            format_html_join("", "<br><em>{}</em>", [(words,) for words, is_so in notes if is_so]),
            gettext("Parameters"),
            json.dumps(obj.parameters, indent=1),
        )

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("chat.view_mcpserver") or self.has_change_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("chat.change_mcpserver")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: tools come from the server's list."""
        return False


@admin.register(McpServer)
class McpServerAdmin(LoggedValuesMixin, ConfirmedFormMixin, ChatAdmin):
    form = ServerForm
    list_display = ("label", "name", "url", "enabled", "groups_", "tools_", "read_", "problem_")
    search_fields = ("name", "label", "url")
    fields = ("label", "name", "url", "headers", "groups", "enabled", "read_", "problem_", "current")
    actions = ("read_now",)
    groups_ = groups_column

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).prefetch_related("groups", "tools")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Return also the name of a server that is there: conversations and steps have it."""
        return ("name", "read_", "problem_") if obj else ("read_", "problem_")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Leave out what a new server cannot have; the password of one that is there is below its tools."""
        left_out = {"current"} if obj else {"read_", "problem_"}
        return tuple(name for name in self.fields if name not in left_out)

    def get_inlines(self, request: HttpRequest, obj: Any) -> tuple[Any, ...]:
        return (ToolInline,) if obj else ()

    @admin.display(description=_("tools"))
    def tools_(self, obj: McpServer) -> str:
        tools = obj.tools.all()
        allowed, changed = sum(each.is_allowed for each in tools), sum(each.has_changed for each in tools)
        words = gettext("%(n)s of %(all)s allowed") % {"n": allowed, "all": len(tools)}
        again = ngettext("%(n)s to allow again", "%(n)s to allow again", changed) % {"n": changed}
        return f"{words}, {again}" if changed else words

    @admin.display(description=_("last read"), ordering="read")
    def read_(self, obj: McpServer) -> str:
        return in_words(obj.read) if obj.read else "–"

    @admin.display(description=_("problem"))
    def problem_(self, obj: McpServer) -> str:
        return obj.problem or "–"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_change_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_change_permission(request)

    @admin.action(description=_("Read the tools now"), permissions=["change"])
    def read_now(self, request: HttpRequest, queryset: QuerySet[McpServer]) -> None:
        for server in queryset:
            _read(request, server.pk)

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> HttpResponse:
        """Go on with its tools, which were read and wait to be allowed."""
        if "_addanother" not in request.POST:
            request.POST = QueryDict("_continue=1")
        return super().response_add(request, obj, post_url_continue)

    def save_model(self, request: HttpRequest, obj: McpServer, form: Any, change: bool) -> None:
        """Save it, and read its tools once that is committed."""
        if {"name", "url", "headers"} & set(form.changed_data):
            obj.due = timezone.now() + READ_EVERY  # not by another process at the same time
            transaction.on_commit(lambda: _read(request, obj.pk))
        super().save_model(request, obj, form, change)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Store the tools that were changed, each only as long as it is what the page showed."""
        done = [each.store() for each in formset.forms if each.has_changed()]
        formset.new_objects, formset.changed_objects, formset.deleted_objects = [], [], []
        if done:
            self.log_change(request, form.instance, "; ".join(done))

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        _announce()

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        """Ask for the password as saving does: without it, a POST only shows the page again."""
        form = ConfirmedForm(request.POST if request.method == "POST" else None)
        form.request = request
        if form.is_bound and self.has_delete_permission(request) and not form.is_valid():
            request.POST = QueryDict()
        return super().delete_view(request, object_id, {"form": form, **(extra_context or {})})

    def delete_model(self, request: HttpRequest, obj: McpServer) -> None:
        super().delete_model(request, obj)
        _announce()


def _announce() -> None:
    """Let every process read the servers again, and this one at once."""
    CatalogState.objects.bump_version()
    transaction.on_commit(servers.load)


def _read(request: HttpRequest, key: int) -> None:
    async_to_sync(reading.read)(key)
    servers.load()
    server = McpServer.objects.filter(pk=key).first()
    if server is None:
        return  # deleted meanwhile
    if server.problem:
        messages.warning(request, f"{server}: {server.problem}")
    else:
        number = server.tools.filter(listed=True).count()
        words = ngettext("%(server)s has %(n)s tool.", "%(server)s has %(n)s tools.", number)
        messages.success(request, words % {"server": server, "n": number})

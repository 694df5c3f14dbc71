"""Tool servers (MCP): what the administration lists, and the tools that they had when they were last read."""

import re
from datetime import timedelta
from typing import Any, Self

from django.contrib.auth.models import Group
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.db.models.signals import pre_delete
from django.dispatch import receiver
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from .site_model import CatalogState, ForGroups, left_by

READ_EVERY = timedelta(minutes=10)
FRESH = timedelta(minutes=1)  # a list that a start need not read again
MAX_SERVER_NAME_CHARS = 20
# Behind this prefix a request names a server among the tools.
PREFIX = "mcp:"


class McpServerQuerySet(models.QuerySet["McpServer"]):
    def make_due(self: Self, *, older: timedelta = FRESH) -> None:
        """Make the lists due that were not read lately."""
        self.filter(Q(read=None) | Q(read__lt=Now() - older)).update(due=Now())

    def claim_due(self: Self) -> list[int]:
        """Return the servers whose lists this process is to read now: no other one gets them."""
        due = self.filter(enabled=True, due__lte=Now())
        return [
            key
            for key in due.values_list("pk", flat=True)
            if due.filter(pk=key).update(due=Now() + READ_EVERY)
        ]


class McpServer(ForGroups):
    """A tool server, reached by streamable HTTP.

    `name` is what a request and the functions of its tools are named with; it does not change. `headers` are
    lines such as `Authorization: Bearer $MCP_TOKEN`, whose values are in the environment. `read` is the time
    of the last reading of its tools that succeeded. `error` says what is wrong since: a sentence to
    translate, and behind a line break what stands in it for `%(detail)s`.
    """

    name = models.CharField(
        _("short name"),
        max_length=MAX_SERVER_NAME_CHARS,
        unique=True,
        validators=[
            RegexValidator(
                re.compile(r"\A[a-z](?:-?[a-z0-9])*\Z"),
                _("Write small letters, digits and single hyphens, beginning with a letter."),
            )
        ],
        help_text=_("For programs and models, such as “wiki”. It can’t be changed later."),
    )
    label = models.CharField(_("name"), max_length=60, help_text=_("As people see it."))
    url = models.CharField(_("address"), max_length=500, help_text=_("Such as https://example.org/mcp."))
    headers = models.TextField(
        _("headers"),
        default="",
        blank=True,
        max_length=2_000,
        help_text=_(
            "One a line. Each value is that of an environment variable of this site whose name begins with "
            "MCP_, such as: Authorization: Bearer $MCP_WIKI_TOKEN"
        ),
    )
    enabled = models.BooleanField(_("offered"), default=True)
    due = models.DateTimeField(db_default=Now(), editable=False)
    read = models.DateTimeField(_("last read"), null=True, editable=False)
    error = models.CharField(_("problem"), max_length=300, default="", blank=True, editable=False)

    objects = McpServerQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("tool server"), _("tool servers")
        default_permissions = ("view", "change")
        ordering = ("name",)

    def __str__(self) -> str:
        return self.label or self.name

    @property
    def problem(self) -> str:
        """The problem, in words; "" if nothing is."""
        sentence, _, detail = self.error.partition("\n")
        return gettext(sentence) % {"detail": detail} if sentence else ""


class McpTool(models.Model):
    """A tool of a server. `description`, `parameters` and `read_only` are what the server says of it.

    `accepted` is what the server said when the administration allowed it, None if it is not allowed. A tool
    of which the server says something else since is not offered until it is allowed again. `listed` is False
    if the server has no such tool any more.
    """

    server = models.ForeignKey(McpServer, models.CASCADE, related_name="tools")
    name = models.CharField(max_length=128, editable=False)
    description = models.TextField(default="", blank=True, editable=False)
    parameters = models.JSONField(default=dict, editable=False)
    read_only = models.BooleanField(default=False, editable=False)
    accepted = models.JSONField(null=True, editable=False)
    asks_first = models.BooleanField(_("asks first"), default=True)
    listed = models.BooleanField(default=True, editable=False)

    class Meta:
        verbose_name, verbose_name_plural = _("tool"), _("tools")
        default_permissions = ()
        ordering = ("name",)
        constraints = [models.UniqueConstraint(fields=["server", "name"], name="mcp_tool_once")]

    def __str__(self) -> str:
        return self.name

    @property
    def declared(self) -> dict[str, Any]:
        """The server's words on the tool, as they were read last."""
        return {
            "description": self.description,
            "parameters": self.parameters,
            "read_only": self.read_only,
        }

    @property
    def is_allowed(self) -> bool:
        """True if the administration has allowed what the server says now."""
        return self.accepted is not None and self.accepted == self.declared

    @property
    def has_changed(self) -> bool:
        """True if it was allowed, and the server says something else since."""
        return self.accepted is not None and self.accepted != self.declared


@receiver(pre_delete, sender=Group)
def offer_to_nobody(instance: Group, origin: Any, **_: Any) -> None:
    """Switch off the servers left without a group by this deletion: otherwise everybody could use them."""
    if left_by(instance, origin, McpServer).update(enabled=False):
        CatalogState.objects.bump_version()

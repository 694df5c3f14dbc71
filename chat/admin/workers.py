"""The list of workers, live and dead, with their numbers of live runs."""

from typing import Any

from django.contrib import admin
from django.db.models import Case, Count, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce, Now
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.models import Run, Worker
from chat.models.worker import DEAD_AFTER

from .base import ReadOnlyListAdmin
from .columns import time_column

WORKERS_LIVE_RUNS = Run.objects.owned().filter(worker=OuterRef("pk")).order_by().values("worker")


@admin.register(Worker)
class WorkerAdmin(ReadOnlyListAdmin):
    title = _("Processes")
    list_display = ["process", "alive", "live_runs", "started_", "heartbeat_at_"]
    ordering = ["-heartbeat_at"]
    started_ = time_column("started", _("started"))
    heartbeat_at_ = time_column("heartbeat_at", _("last seen"))

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        """Add `number_live`, and `is_alive` by the database's clock, because clocks of hosts may differ."""
        return (
            super()
            .get_queryset(request)
            .annotate(
                is_alive=Case(
                    When(heartbeat_at__gte=Now() - DEAD_AFTER, then=Value(True)), default=Value(False)
                ),
                number_live=Coalesce(
                    Subquery(WORKERS_LIVE_RUNS.annotate(number=Count("*")).values("number")), 0
                ),
            )
        )

    @admin.display(description=_("process"), ordering="host")
    def process(self, obj: Worker) -> str:
        return str(obj)

    @admin.display(description=_("alive"), boolean=True)
    def alive(self, obj: Any) -> bool:
        return obj.is_alive

    @admin.display(description=_("active replies"))
    def live_runs(self, obj: Any) -> int:
        return obj.number_live

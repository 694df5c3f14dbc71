"""Django's page of what was changed in the administration, for those who may see the row."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest


class PermissionBeforeLookupMixin(admin.ModelAdmin):
    """Asks for the right before looking for the row: Django's tells first whether there is one."""

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        """As Django's, for who has the right; the same refusal for everybody else."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return super().history_view(request, object_id, extra_context)

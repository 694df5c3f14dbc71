"""Django's history page of an object, without revealing which objects exist."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest


class PermissionBeforeLookupMixin(admin.ModelAdmin):
    """Check the right before looking the row up: Django's view reveals first that the row exists."""

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        """Return Django's page. Raises PermissionDenied: without the right, for missing rows as well."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return super().history_view(request, object_id, extra_context)

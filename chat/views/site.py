"""The site's identity for browsers: its manifest as an app, and its picture."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.models import Site
from chat.models.site import Identity, identity

from .requests import access

ICON_PIXELS, PICTURE_PIXELS = 64, 512
# The colours of `static/css/tokens.css`.
COLOURS = {
    "": "#17616f",
    "ink": "#2f4f9e",
    "plum": "#7a3b78",
    "berry": "#98304f",
    "rust": "#92431c",
    "moss": "#4d6322",
    "graphite": "#514c45",
}
GROUND = "#fdfcf9"
FOREVER = "public, max-age=31536000, immutable"  # the address holds a version
SIZES = {"icon": ICON_PIXELS, "picture": PICTURE_PIXELS}
PNG = b"\x89PNG"


def context(request: HttpRequest) -> dict[str, Identity]:
    """Context processor: make the identity available to every template, also where the database is away."""
    return {"this_site": identity()}


@access.require_methods("GET", "HEAD")
def manifest(request: HttpRequest, version: str) -> HttpResponseBase:
    """Return the manifest of the installed app. Browsers ask for it without a cookie."""
    found = Site.objects.load_identity()
    response = JsonResponse(
        {
            "id": "/",
            "name": found.name or _("Chat"),
            "short_name": found.name or _("Chat"),
            "start_url": "/",
            "scope": "/",
            "display": "standalone",
            "background_color": GROUND,
            "theme_color": COLOURS[found.colour] if found.colour else GROUND,
            "icons": _icons(found),
        },
        content_type="application/manifest+json",
    )
    response["Cache-Control"] = FOREVER if version == found.version else "no-cache"
    return response


def _icons(found: Identity) -> list[dict[str, Any]]:
    if found.picture_version:
        return [
            {
                "src": reverse("chat:site_picture", args=[kind, found.picture_version]),
                "sizes": f"{side}x{side}",
            }
            for kind, side in SIZES.items()
        ]
    drawn = {"icon.svg": "any", "icon-192.png": "192x192", "icon-512.png": "512x512"}
    icons = [{"src": static(f"img/{name}"), "sizes": sizes} for name, sizes in drawn.items()]
    maskable = {"src": static("img/icon-maskable.png"), "sizes": "512x512", "purpose": "maskable"}
    return [*icons, maskable]


@access.require_methods("GET", "HEAD")
def picture(request: HttpRequest, kind: str, version: str) -> HttpResponseBase:
    """Return the site's picture, in one of its two sizes. Raises Http404: for a former version."""
    content = Site.objects.filter(picture_version=version).values_list(kind, flat=True).first()
    if content is None:
        raise Http404
    content = bytes(content)
    media_type = "image/png" if content.startswith(PNG) else "image/jpeg"
    response = HttpResponse(content, content_type=media_type)
    response["Cache-Control"] = FOREVER
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response

"""How static files are stored: each under a name that holds its hash, with a gzip and a brotli twin."""

from collections.abc import Iterator
from typing import Any

from django.core.files.base import ContentFile
from rjsmin import jsmin
from whitenoise.storage import CompressedManifestStaticFilesStorage

from chatsite.stylesheet import shortened

# Django's own patterns for these run on over the end of a statement, to the next one's `from`.
# A minified statement begins where the line does, or behind the semicolon of the one before.
IMPORTS = (
    "*.js",
    (
        (
            r"""(?m)(?:^|(?<=;))(?P<matched>(?P<head>(?:import|export)\b[^;'"]*?\bfrom|import)\s*["'](?P<url>\./[^"']+)["'])""",
            """%(head)s "%(url)s\"""",
        ),
        (r"""(?P<matched>\bimport\(\s*["'](?P<url>\./[^"']+)["']\s*\))""", """import("%(url)s")"""),
    ),
)


class StaticStorage(CompressedManifestStaticFilesStorage):
    """Also follows the imports of JavaScript modules, so that no module meets another release's.

    Our own modules and style sheets are served without comments and white space: a quarter of what a browser
    would load.
    """

    patterns = (*CompressedManifestStaticFilesStorage.patterns, IMPORTS)
    max_post_process_passes = 12  # one for each module on the longest way of imports; a circle never ends

    def save(self, name: str, content: Any, max_length: int | None = None) -> str:
        """The plain copy, which tools read; browsers get the one that `post_process` makes."""
        return super().save(name, _shorter(name, content) if _is_ours(name) else content, max_length)

    def post_process(self, paths: dict[str, Any], *args: Any, **options: Any) -> Iterator[Any]:
        """`paths`: name to storage and path of each source.

        Not from the plain copies: an older file than one already there is not copied.
        """
        sources = {
            name: (_Shorter(storage) if _is_ours(name) else storage, path)
            for name, (storage, path) in paths.items()
        }
        yield from super().post_process(sources, *args, **options)


class _Shorter:
    """A storage of our own sources, read without comments and white space."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage

    def open(self, path: str) -> ContentFile:
        with self._storage.open(path) as file:
            return _shorter(path, file)


def _shorter(name: str, content: Any) -> ContentFile:
    source = content.read().decode()
    return ContentFile((jsmin(source) if name.endswith(".js") else shortened(source)).encode())


def _is_ours(name: str) -> bool:
    return (name.startswith("js/") and name.endswith(".js")) or (
        name.startswith("css/") and name.endswith(".css")
    )

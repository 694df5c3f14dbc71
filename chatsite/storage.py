"""Storage of static files: under names that contain their hash, with gzip and brotli copies."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.files.base import ContentFile
from rjsmin import jsmin
from whitenoise.storage import CompressedManifestStaticFilesStorage

# In place of Django's own patterns, which match past the end of a statement, up to the next one's `from`.
# A minified statement begins at the start of a line or after the semicolon of the one before.
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

_CSS_PIECE = re.compile(
    r"""(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<comment>/\*(?:[^*]|\*(?!/))*\*/(?=[ \t]*\n))
    |(?P<line_end>\s*\n\s*)""",
    re.VERBOSE | re.DOTALL,
)

_CSS_IMPORT = re.compile(r"""(?m)^@import "(?P<name>[\w.-]+)"(?: layer\((?P<layer>\w+)\))?;$""")

SOURCES_KEY = "sources"  # in the manifest: the digest of what was collected


def sources_digest() -> str:
    """Return a digest of the site's own static files and of Django's version, whose files come with it.

    Times would not do: the files of a release that is put in place again are older than what was collected.
    """
    digest = hashlib.sha256(django.get_version().encode())
    for folder in settings.STATICFILES_DIRS:
        for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
            digest.update(f"\n{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def collected_digest() -> str | None:
    """Return the digest in the manifest; None if there is no usable manifest."""
    try:
        manifest = json.loads((Path(settings.STATIC_ROOT) / StaticStorage.manifest_name).read_bytes())
    except (OSError, ValueError):
        return None
    return manifest.get(SOURCES_KEY) if isinstance(manifest, dict) else None


class StaticStorage(CompressedManifestStaticFilesStorage):
    """Storage that also hashes the imports of JavaScript modules, so that no module loads another release's.

    The site's own modules and style sheets are served without comments and white space, which are a quarter
    of what a browser would load.
    """

    patterns = (*CompressedManifestStaticFilesStorage.patterns, IMPORTS)
    max_post_process_passes = 12  # one per module on the longest chain of imports; a cycle would never end

    def save_manifest(self) -> None:
        """Save the manifest with the digest of the sources, for the next start to compare."""
        super().save_manifest()
        file = Path(self.manifest_storage.path(self.manifest_name))
        file.write_text(json.dumps(json.loads(file.read_bytes()) | {SOURCES_KEY: sources_digest()}), "utf-8")

    def save(self, name: str, content: Any, max_length: int | None = None) -> str:
        """Save the copy without a hash in its name, for tools. Browsers get the one of `post_process`."""
        return super().save(name, _shorter(name, content) if _is_ours(name) else content, max_length)

    def post_process(self, paths: dict[str, Any], *args: Any, **options: Any) -> Iterator[Any]:
        """Hash and compress the files. `paths` maps each name to (storage, path) of its source.

        The copies of `save` cannot be the sources: collectstatic skips files older than the existing copy.
        """
        sources = {
            name: (_Shorter(storage) if _is_ours(name) else storage, path)
            for name, (storage, path) in paths.items()
        }
        yield from super().post_process(sources, *args, **options)


class _Shorter:
    """A storage that opens the site's own sources without their comments and white space."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage

    def open(self, path: str) -> ContentFile:
        with self._storage.open(path) as file:
            return _shorter(path, file)


def _shorter(name: str, content: Any) -> ContentFile:
    source = content.read().decode()
    return ContentFile((jsmin(source) if name.endswith(".js") else minified_css(_whole(source))).encode())


def _whole(sheet: str) -> str:
    """Return the sheet with those that it imports in place of the statements: a browser asks for one file."""

    def imported(statement: re.Match[str]) -> str:
        path = finders.find(f"css/{statement['name']}")
        if not path:
            return statement[0]
        text = Path(path).read_text("utf-8")
        return f"@layer {statement['layer']} {{\n{text}}}" if statement["layer"] else text

    return _CSS_IMPORT.sub(imported, sheet)


def minified_css(source: str) -> str:
    """Return the same style sheet without comments that end a line, blank lines and indentation."""
    without_comments = _CSS_PIECE.sub(lambda piece: "" if piece["comment"] else piece[0], source)
    return _CSS_PIECE.sub(lambda piece: "\n" if piece["line_end"] else piece[0], without_comments).lstrip()


def _is_ours(name: str) -> bool:
    return (name.startswith("js/") and name.endswith(".js")) or (
        name.startswith("css/") and name.endswith(".css")
    )

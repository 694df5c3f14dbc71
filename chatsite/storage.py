"""How static files are stored: each under a name that holds its hash, with a gzip and a brotli twin."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticStorage(CompressedManifestStaticFilesStorage):
    """Also follows the imports of JavaScript modules, so that no module meets another release's."""

    support_js_module_import_aggregation = True

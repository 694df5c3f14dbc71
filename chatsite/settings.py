"""The whole configuration. A site's own settings are read through `chatsite.env`; .env.example lists them."""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf.global_settings import LANGUAGES
from django.utils.translation import to_locale

from chat.db import databases
from chat.limits import MAX_BODY_BYTES
from chatsite import cors, env, secret_key
from chatsite.env import BASE_DIR, EnvError

DATA_DIR = Path(env.path("DATA_DIR", "./data"))
try:
    DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
except OSError as error:
    raise EnvError(
        f"DATA_DIR cannot be made ({error.strerror}): write a folder this user can write."
    ) from None

DEBUG = env.boolean("DEBUG")
SECRET_KEY = env.secret("SECRET_KEY") or secret_key.get_or_create(DATA_DIR / "secret-key")

# The address that the server listens on, and its public URL.
HOST = env.text("HOST", "127.0.0.1")
PORT = env.integer("PORT", 8000, 1, 65535)
SITE_URL = env.url("SITE_URL", f"http://localhost:{PORT}")
TRUSTED_PROXY = env.integer("TRUSTED_PROXY", 0, 0, 10)
DRAIN_SECONDS = env.integer("DRAIN_SECONDS", 20, 0, 3600)

SITE = urlsplit(SITE_URL)
HTTPS = SITE.scheme == "https"
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *env.listing("ALLOWED_HOSTS")]
ALLOWED_HOSTS += [SITE.netloc.rpartition("@")[2].removesuffix(f":{SITE.port}")]
CSRF_TRUSTED_ORIGINS = [*env.listing("CSRF_TRUSTED_ORIGINS"), f"{SITE.scheme}://{SITE.netloc}"]

# The providers of models, and the default model.
CLOUDFLARE_ACCOUNT_ID = env.text("CLOUDFLARE_ACCOUNT_ID")
CLOUDFLARE_API_TOKEN = env.secret("CLOUDFLARE_API_TOKEN")
CLOUDFLARE_API_BASE_URL = env.url("CLOUDFLARE_API_BASE_URL", "https://api.cloudflare.com/client/v4")
GATEWAY_MODELS = env.models("GATEWAY_MODELS")
OPENAI_BASE_URL = env.url("OPENAI_BASE_URL")
OPENAI_API_KEY = env.secret("OPENAI_API_KEY")
OPENAI_MODELS = env.models("OPENAI_MODELS")
AI_SEARCH_INSTANCES = env.instances("AI_SEARCH_INSTANCES")
VISION_MODELS = env.listing("VISION_MODELS")  # of these two lists
LOCAL_MODEL = env.path("LOCAL_MODEL")
DEFAULT_MODEL = env.text("DEFAULT_MODEL", "@cf/zai-org/glm-4.7-flash" if CLOUDFLARE_API_TOKEN else "")
if not DEFAULT_MODEL and OPENAI_MODELS:
    DEFAULT_MODEL = OPENAI_MODELS[0][0]
if not DEFAULT_MODEL and not LOCAL_MODEL:
    DEFAULT_MODEL = "local/smollm2-135m"  # else "": the file of LOCAL_MODEL is the only model
# The model that writes the titles of conversations; by default not the local model, which writes bad ones.
ACCOUNT_TITLE_MODEL = "@cf/ibm-granite/granite-4.0-h-micro"
TITLE_MODEL = env.model("TITLE_MODEL", ACCOUNT_TITLE_MODEL if CLOUDFLARE_API_TOKEN else "none")

# The model of the account that compares parts of long documents with questions, or "none".
ACCOUNT_EMBEDDING_MODEL = "@cf/baai/bge-m3"
EMBEDDING_MODEL = env.model("EMBEDDING_MODEL", ACCOUNT_EMBEDDING_MODEL if CLOUDFLARE_API_TOKEN else "none")
# The same with an account that the administration has connected, which is not known here.
CONNECTED_TITLE_MODEL = env.library_variable("TITLE_MODEL") or ACCOUNT_TITLE_MODEL
CONNECTED_EMBEDDING_MODEL = env.library_variable("EMBEDDING_MODEL") or ACCOUNT_EMBEDDING_MODEL

# The account's AI Gateway that requests go through, if any; what is not set is left to the gateway.
AI_GATEWAY_ID = env.word("AI_GATEWAY_ID")
AI_GATEWAY_BASE_URL = env.url("AI_GATEWAY_BASE_URL", "https://gateway.ai.cloudflare.com/v1")
AI_GATEWAY_CACHE_TTL = env.optional("AI_GATEWAY_CACHE_TTL", 60, 2_592_000, 0)
AI_GATEWAY_CACHE_SCOPE = env.choice("AI_GATEWAY_CACHE_SCOPE", "site", "person")
AI_GATEWAY_REQUEST_TIMEOUT = env.optional("AI_GATEWAY_REQUEST_TIMEOUT", 100, 120_000)
AI_GATEWAY_MAX_ATTEMPTS = env.optional("AI_GATEWAY_MAX_ATTEMPTS", 1, 5)
AI_GATEWAY_RETRY_DELAY = env.optional("AI_GATEWAY_RETRY_DELAY", 100, 5_000)
AI_GATEWAY_BACKOFF = env.choice("AI_GATEWAY_BACKOFF", "", "constant", "linear", "exponential")
AI_GATEWAY_METADATA = env.boolean("AI_GATEWAY_METADATA", True)
AI_GATEWAY_LOG_PAYLOADS = env.boolean("AI_GATEWAY_LOG_PAYLOADS")
AI_GATEWAY_CUSTOM_COST = env.prices("AI_GATEWAY_CUSTOM_COST")
FALLBACK_MODELS = env.listing("FALLBACK_MODELS")
REQUESTS_PER_MINUTE = env.integer("REQUESTS_PER_MINUTE", 300, 1, 1_000_000)
PAID_MODEL_REQUESTS_PER_MINUTE = env.integer("PAID_MODEL_REQUESTS_PER_MINUTE", 20, 1, 1_000_000)

# Web search for models that call for it, and pages. WEB_SEARCH "": Cloudflare, if there is an account.
WEB_SEARCH = env.choice("WEB_SEARCH", "", "none", "cloudflare", "searxng", "brave")
SEARXNG_URL = env.url("SEARXNG_URL")
BRAVE_API_KEY = env.secret("BRAVE_API_KEY")
READ_PAGE_ALLOWED_HOSTS = env.hosts("READ_PAGE_ALLOWED_HOSTS")
READ_PAGE_RENDERING = env.choice("READ_PAGE_RENDERING", "none", "cloudflare")
MCP_SECRETS = env.secrets("MCP_")  # what the headers for tool servers are made of

# How long a model server may send nothing, say nothing, and take for a whole reply.
UPSTREAM_SILENCE_SECONDS = env.integer("UPSTREAM_SILENCE_SECONDS", 60, 1, 86_400)
UPSTREAM_PROGRESS_SECONDS = env.integer("UPSTREAM_PROGRESS_SECONDS", 300, 1, 86_400)
REPLY_MAX_SECONDS = env.integer("REPLY_MAX_SECONDS", 3_600, 1, 86_400)
TOOL_CALLS_PER_REPLY = env.integer("TOOL_CALLS_PER_REPLY", 8, 1, 64)
TOOL_CALLS_AT_ONCE = env.integer("TOOL_CALLS_AT_ONCE", 3, 1, 16)
TOOL_CALL_SECONDS = env.integer("TOOL_CALL_SECONDS", 20, 1, 600)
TOOL_TOTAL_SECONDS = env.integer("TOOL_TOTAL_SECONDS", 60, 1, 3_600)
TOOL_MAX_RESULT_KB = env.integer("TOOL_MAX_RESULT_KB", 100, 1, 1_000)

INSTALLED_APPS = [
    # Before staticfiles, to replace its `runserver` by one that streams. Other commands do without: it
    # installs Twisted's reactor with an event loop, and workers that are forked must not share one.
    *(["daphne"] if sys.argv[1:2] == ["runserver"] else []),
    "chat",
    "chatsite",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "axes",
]

# Mostly Django's own, but hooks without I/O run on the event loop instead of in a thread each.
MIDDLEWARE = [
    "chatsite.response_headers.ResponseHeadersMiddleware",
    "chatsite.middleware.SecurityMiddleware",
    "chatsite.static_files.StaticMiddleware",
    "chatsite.middleware.RequestMiddleware",  # not for static files: a browser caches them for ever
    "chatsite.middleware.GZipMiddleware",
    "chatsite.middleware.LanguageMiddleware",
    "chatsite.middleware.SessionMiddleware",
    "chatsite.middleware.CommonMiddleware",
    "chatsite.middleware.CsrfViewMiddleware",
    "chatsite.middleware.AuthenticationMiddleware",
    "chatsite.middleware.MessageMiddleware",
    "chatsite.middleware.OutageMiddleware",
]
# Pages of these origins may call the API with a key. CORS comes first, so that errors have its headers, too.
API_ALLOWED_ORIGINS = env.origins("API_ALLOWED_ORIGINS")
if API_ALLOWED_ORIGINS:
    MIDDLEWARE.insert(0, "corsheaders.middleware.CorsMiddleware")
CORS_ALLOWED_ORIGINS = API_ALLOWED_ORIGINS
CORS_ALLOW_CREDENTIALS = False  # a page of another origin never acts with a user's session
CORS_URLS_REGEX = cors.API_URLS
CORS_ALLOW_METHODS = cors.ALLOWED_METHODS
CORS_ALLOW_HEADERS = cors.REQUEST_HEADERS
CORS_EXPOSE_HEADERS = cors.RESPONSE_HEADERS
CORS_PREFLIGHT_MAX_AGE = cors.PREFLIGHT_SECONDS
ROOT_URLCONF = "chatsite.urls"
ASGI_APPLICATION = "chatsite.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "chat.views.settings.preference_cookies.context",
                "chat.views.site.context",
            ],
        },
    }
]

# The database, which holds the log of every conversation.
DATABASE_URL = env.secret("DATABASE_URL")
try:
    DATABASE = databases.from_url(DATABASE_URL or f"sqlite:///{DATA_DIR}/db.sqlite3")
except ValueError:
    raise EnvError(
        "DATABASE_URL is not an address of a database: write postgresql://user:password@host:5432/name "
        "or sqlite:////folder/db.sqlite3, or leave it out."
    ) from None
DATABASES = {"default": DATABASE}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Days after which rows are deleted for good, by `manage.py prune` or by the server once a day.
PRUNE_DAILY = env.boolean("PRUNE_DAILY", True)
KEEP_DELETED_DAYS = env.days("KEEP_DELETED_DAYS", 30)
KEEP_CALLS_DAYS = env.days("KEEP_CALLS_DAYS", 365)
KEEP_INVITATIONS_DAYS = env.days("KEEP_INVITATIONS_DAYS", 30)
KEEP_LOGIN_FAILURES_DAYS = env.days("KEEP_LOGIN_FAILURES_DAYS", 30)
KEEP_READINGS_DAYS = env.days("KEEP_READINGS_DAYS", 0, 90)

# Imports of conversations: the largest file.
IMPORT_MAX_MB = env.integer("IMPORT_MAX_MB", 200, 0, 4_000)
API_MAX_BODY_MB = env.integer("API_MAX_BODY_MB", 16, 1, 200)

# Files in questions: the largest upload, and what all files of a person may take, in megabytes.
ATTACHMENTS = env.choice("ATTACHMENTS", "on", "off") == "on"
ATTACHMENT_MAX_BYTES = env.integer("ATTACHMENT_MAX_BYTES", 20_000_000, 100_000, 100_000_000)
ATTACHMENT_QUOTA_MB = env.integer("ATTACHMENT_QUOTA_MB", 500, 1, 1_000_000)

# Where the kernel cannot confine the processes that read files, of attachments and of imports.
UNCONFINED_FILES = env.choice("UNCONFINED_FILES", "refuse", "warn")

# Links with which a conversation can be read without an account. `expiring`: for 30 days at most.
SHARING = env.choice("SHARING", "off", "expiring", "permanent")

REDIS_URL = env.require_url("REDIS_URL", env.secret("REDIS_URL"), ("redis", "rediss"))
CHANNEL_LAYERS: dict[str, dict[str, Any]] = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
if REDIS_URL:
    CHANNEL_LAYERS["default"] = {
        "BACKEND": "chatsite.channel_layer.ChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL], "prefix": "chat"},
    }

# Users, passwords and the throttle of logins.
AUTH_USER_MODEL = "chat.User"
LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = LOGIN_URL
AUTHENTICATION_BACKENDS = ["chat.accounts.backends.AccountBackend"]
PASSWORD_HASHERS = [
    "chat.accounts.passwords.GatedArgon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
VALIDATION = "django.contrib.auth.password_validation"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"{VALIDATION}.UserAttributeSimilarityValidator"},
    {"NAME": f"{VALIDATION}.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "chat.accounts.passwords.CommonPartValidator"},
]

AXES_HANDLER = "chat.accounts.backends.LoginThrottle"
AXES_USERNAME_CALLABLE = "chat.accounts.backends.throttled_name"
AXES_CLIENT_IP_CALLABLE = "chat.accounts.proxies.client_address"
AXES_LOCKOUT_PARAMETERS = "chat.accounts.backends.lockout_parameters"
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_DISABLE_ACCESS_LOG = True  # a login is a line of the log, not a row that stays for ever
AXES_ENABLE_ADMIN = False  # three tables that no administrator would look for under this name
AXES_SENSITIVE_PARAMETERS = ["username"]  # masked in the log; no field of a request is stored
AXES_VERBOSE = False

# Browsers. The __Host- prefix makes a browser refuse the cookie from a subdomain or over plain http.
SESSION_ENGINE = "chat.accounts.sessions"
SESSION_COOKIE_NAME = "__Host-sessionid" if HTTPS else "sessionid"
CSRF_COOKIE_NAME = "__Host-csrftoken" if HTTPS else "csrftoken"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 63_072_000 if HTTPS else 0  # two years
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]  # probed by container platforms over plain http
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXY else None
SECURE_REFERRER_POLICY = "same-origin"
CSRF_FAILURE_VIEW = "chat.views.requests.errors.csrf_failure"
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES
FILE_UPLOAD_MAX_MEMORY_SIZE = 1_048_576
# Empty fields count. chat/files/receiving.py has the limits of forms with files.
DATA_UPLOAD_MAX_NUMBER_FILES = 10
FILE_UPLOAD_HANDLERS = ["chat.files.receiving.NoFiles"]  # but for imports and attachments

SILENCED_SYSTEM_CHECKS = [
    "axes.W002",  # the login view answers a lockout itself, so axes' middleware is not needed
    # These look for Django's classes by name; ours are subclasses, which tests compare with Django's.
    "security.W001",
    "security.W002",
    "security.W003",
    "security.W005",  # HSTS for subdomains, and preloading (W021), would bind hosts of others
    "security.W021",
]

# Static files: hashed names, compressed once, served by WhiteNoise.
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
WHITENOISE_ALLOW_ALL_ORIGINS = False  # no other site needs these files
WHITENOISE_MIMETYPES = {".webmanifest": "application/manifest+json"}
STATICFILES_DIRS = [BASE_DIR / "static"]
MEDIA_ROOT = DATA_DIR / "media"
STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "chatsite.storage.StaticStorage"},
    "attachments": {
        "BACKEND": "chatsite.attachment_storage.AttachmentStorage",
        "OPTIONS": {"location": DATA_DIR / "attachments"},
    },
}
# Attachments in a bucket, so that several hosts share them.
ATTACHMENTS_S3_BUCKET = env.text("ATTACHMENTS_S3_BUCKET")
ATTACHMENTS_S3_ENDPOINT = env.url("ATTACHMENTS_S3_ENDPOINT")
ATTACHMENTS_S3_REGION = env.text("ATTACHMENTS_S3_REGION", "auto")
ATTACHMENTS_S3_KEY_ID = env.text("ATTACHMENTS_S3_KEY_ID")
ATTACHMENTS_S3_KEY = env.secret("ATTACHMENTS_S3_KEY")
if ATTACHMENTS_S3_BUCKET:
    STORAGES["attachments"] = {
        "BACKEND": "chatsite.s3_storage.S3AttachmentStorage",
        "OPTIONS": {
            "bucket_name": ATTACHMENTS_S3_BUCKET,
            "endpoint_url": ATTACHMENTS_S3_ENDPOINT or None,
            "region_name": ATTACHMENTS_S3_REGION,
            "access_key": ATTACHMENTS_S3_KEY_ID or None,
            "secret_key": ATTACHMENTS_S3_KEY or None,
        },
    }

# English, and each folder of `locale/` with a compiled catalog: German, French, and what the site adds.
LANGUAGE_CODE = "en"
LOCALE_PATHS = [BASE_DIR / "locale"]
CATALOGS = {path.parts[-3] for path in LOCALE_PATHS[0].glob("*/LC_MESSAGES/django.mo")}
LANGUAGES = [(code, name) for code, name in LANGUAGES if code == "en" or to_locale(code) in CATALOGS]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# Prometheus metrics: off, at /metrics for clients with the token, or at an address of their own.
METRICS_TOKEN = env.secret("METRICS_TOKEN")
METRICS_BIND = env.address("METRICS_BIND")

# Traces by OpenTelemetry: off, or sent to this address. Its library reads the other OTEL_ variables itself.
OTEL_EXPORTER_OTLP_ENDPOINT = env.url("OTEL_EXPORTER_OTLP_ENDPOINT")

LOG_FORMAT = env.choice("LOG_FORMAT", "lines", "json")
LOG_LEVEL = env.choice("LOG_LEVEL", "info", "debug", "warning", "error").upper()
ACCESS_LOG = env.boolean("ACCESS_LOG")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "lines": {"()": "chat.telemetry.log_format.LineFormatter"},
        "json": {"()": "chat.telemetry.log_format.JsonFormatter"},
    },
    "filters": {"refusals": {"()": "chat.telemetry.log_format.RefusalFilter"}},
    "handlers": {
        "stream": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["refusals"],
            "level": LOG_LEVEL,  # here too, for the loggers below that have a level of their own
        }
    },
    "root": {"handlers": ["stream"], "level": LOG_LEVEL},
    "loggers": {
        "django": {"handlers": [], "propagate": True},
        "django.server": {"handlers": [], "propagate": True},
        "daphne": {"level": "WARNING"},
        "axes": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},  # at INFO it logs each URL, which contains the account id
    },
}

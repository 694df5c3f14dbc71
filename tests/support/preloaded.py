"""Imports of a server that read no setting, for the process from which all servers are forked.

Of ours, these are `chat.wire`, `chat.rendering` and `chat.upstream`: the contracts of `lint-imports` keep
Django out of them, so none of their modules reads a setting.
"""

import chatsite.server.unused_modules  # noqa: F401, I001 - before Daphne and Twisted, as in manage.py

import gc
import importlib
import pkgutil

import aiohttp  # noqa: F401
import channels.layers  # noqa: F401
import daphne.utils  # noqa: F401
import django.conf.urls.i18n
import django.contrib.admin.options
import django.contrib.admin.sites
import django.contrib.admin.templatetags.admin_list
import django.contrib.admin.views.main
import django.contrib.auth.hashers
import django.contrib.auth.password_validation
import django.contrib.auth.tokens
import django.contrib.messages.storage.fallback
import django.contrib.sessions.backends.base
import django.contrib.staticfiles.storage
import django.core.cache.backends.locmem
import django.core.handlers.asgi
import django.core.management
import django.core.management.commands.migrate
import django.db.backends.sqlite3.base
import django.db.migrations.executor
import django.db.models
import django.db.models.sql.compiler
import django.middleware.clickjacking
import django.middleware.gzip
import django.middleware.locale
import django.middleware.security
import django.template.engine
import django.views.defaults  # noqa: F401
import httpx  # noqa: F401
import httpx_aiohttp  # noqa: F401
import nh3  # noqa: F401
import psycopg  # noqa: F401
import pygments.lexers  # noqa: F401
import pyromark  # noqa: F401
import rjsmin  # noqa: F401
import twisted.internet.asyncioreactor
import twisted.internet.endpoints
import twisted.web.http
import twisted.web.resource  # noqa: F401
import uvloop  # noqa: F401
import whitenoise.middleware
import whitenoise.storage  # noqa: F401

import chat.rendering
import chat.upstream
import chat.wire
from tests.support.compiled_modules import CompiledModules

UNUSED = {"chat.upstream.routing.redis_rate_limiter"}  # loads redis, which only a server with REDIS_URL does

for package in (chat.wire, chat.rendering, chat.upstream):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if module.name not in UNUSED:
            importlib.import_module(module.name)

CompiledModules("axes", "chat", "chatsite", "django.contrib", "django.templatetags").install()

gc.freeze()  # else each server goes through all of it again whenever it collects garbage

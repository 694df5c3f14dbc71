"""Imports of a server that read no setting, for the process from which all servers are forked."""

import chatsite.server.unused_modules  # noqa: F401, I001 - before Daphne and Twisted, as in manage.py

import aiohttp  # noqa: F401
import channels.layers  # noqa: F401
import daphne.utils  # noqa: F401
import django.contrib.admin.options
import django.contrib.admin.sites
import django.contrib.admin.views.main
import django.contrib.staticfiles.storage
import django.core.handlers.asgi
import django.core.management
import django.db.migrations.executor
import django.db.models
import django.template.engine  # noqa: F401
import httpx  # noqa: F401
import httpx_aiohttp  # noqa: F401
import nh3  # noqa: F401
import psycopg  # noqa: F401
import pygments.lexers  # noqa: F401
import pyromark  # noqa: F401
import twisted.web.http
import twisted.web.resource  # noqa: F401
import uvloop  # noqa: F401
import whitenoise.middleware  # noqa: F401

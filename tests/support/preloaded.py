"""Libraries of a server that read no setting, for the process from which all servers are forked."""

import chatsite.server.unused_modules  # noqa: F401, I001 - before Daphne and Twisted, as in manage.py

import gc

import aiohttp  # noqa: F401
import channels.layers  # noqa: F401
import daphne.utils  # noqa: F401
import django.contrib.admin.sites
import django.contrib.admin.views.main
import django.contrib.auth.hashers
import django.core.handlers.asgi
import django.core.management.commands.migrate
import django.db.backends.sqlite3.base
import django.middleware.locale
import django.template.engine  # noqa: F401
import httpx  # noqa: F401
import httpx_aiohttp  # noqa: F401
import nh3  # noqa: F401
import psycopg  # noqa: F401
import pygments.lexers  # noqa: F401
import pyromark  # noqa: F401
import rjsmin  # noqa: F401
import twisted.internet.asyncioreactor
import twisted.internet.endpoints
import twisted.web.http  # noqa: F401
import uvloop  # noqa: F401
import whitenoise.middleware
import whitenoise.storage  # noqa: F401

gc.freeze()  # else each server goes through all of it again whenever it collects garbage

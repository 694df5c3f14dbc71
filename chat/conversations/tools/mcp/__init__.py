"""The tools of servers that the administration lists, by the Model Context Protocol.

The SDK is an extra, and takes memory: only `client` imports it, with the first request to a server.
"""

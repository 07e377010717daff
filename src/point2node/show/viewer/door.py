"""Access control: requests need the token of the printed link and must come from a page of this server.

Any page in a browser can open a WebSocket to this machine, and an attacker can make a domain resolve to it. So the
token of the link is required, and ``Host`` and ``Origin`` must be ours.
"""

from __future__ import annotations

import hashlib
import ipaddress
import logging
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

import viser
import websockets.asyncio.server
from websockets import Headers
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")
LONGEST_LINE = 200
LINES_A_MINUTE = 20
_starting = Lock()

Answer = Callable[[ServerConnection, Request], Response | None]


class Door:
    """Checks every request before viser sees it.

    Args:
        host: the address that the server listens on.
    """

    def __init__(self, host: str) -> None:
        self.token = secrets.token_urlsafe(24)
        self._host = host
        self._cookie = "point2node-" + hashlib.sha256(self.token.encode()).hexdigest()[:8]
        self._is_guarding = False

    @contextmanager
    def guarding(self) -> Iterator[None]:
        """Guard the server that viser starts inside the context. viser has no hook for that, so its call is wrapped."""
        serve = websockets.asyncio.server.serve

        def guarded(handler: Any, *arguments: Any, process_request: Answer, **options: Any) -> Any:
            self._is_guarding = True
            check = self._checked(process_request)
            return serve(handler, *arguments, process_request=check, logger=_quiet_logger(), **options)

        with _starting:
            websockets.asyncio.server.serve = guarded  # type: ignore[assignment, misc]
            try:
                yield
            finally:
                websockets.asyncio.server.serve = serve  # type: ignore[misc]
        if not self._is_guarding:
            raise RuntimeError("this version of viser starts its server differently: it would be open to everybody")

    def _checked(self, answer: Answer) -> Answer:
        def check(connection: ServerConnection, request: Request) -> Response | None:
            reason = self.rejection_reason(request)
            if reason:
                return connection.respond(HTTPStatus.FORBIDDEN, f"{reason}\n")
            response = answer(connection, request)
            if response is not None:
                response.headers["Set-Cookie"] = f"{self._cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
                response.headers["Referrer-Policy"] = "no-referrer"
                response.headers["X-Frame-Options"] = "DENY"
                response.headers["Cache-Control"] = "no-store"
            return response

        return check

    def rejection_reason(self, request: Request) -> str:
        """Return the reason to reject a request; empty if it is allowed."""
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return "This server has another name."
        if any(origin not in (f"http://{hosts[0]}", f"https://{hosts[0]}") for origin in origins):
            return "Pages of other servers have no access."
        if not self._knows_token(request):
            return "Open the link that 'point2node view' printed: it contains the token."
        if "Upgrade" in request.headers and _protocols(request.headers) != [f"viser-v{viser.__version__}"]:
            return "This page is from another version: reload it."  # viser would print the version it receives
        return ""

    def _is_ours(self, host: str) -> bool:
        """Return whether this is a name of the address listened on; the port may differ, for tunnels."""
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
        except ValueError:
            return False
        if self._host in LOOPBACK:
            return name in LOOPBACK
        if self._host in EVERYWHERE:  # an attacker's page has a domain name, so bare addresses are safe
            return name in {"localhost", socket.gethostname().lower(), socket.getfqdn().lower()} or _is_address(name)
        return name == self._host.lower()

    def _knows_token(self, request: Request) -> bool:
        given = parse_qs(request.path.partition("?")[2]).get("token", [])
        for cookies in request.headers.get_all("Cookie"):
            try:
                jar = SimpleCookie(cookies)
            except CookieError:
                continue
            given += [jar[self._cookie].value] if self._cookie in jar else []
        return any(secrets.compare_digest(one.encode(), self.token.encode()) for one in given)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _protocols(headers: Headers) -> list[str]:
    return [word.strip() for value in headers.get_all("Sec-WebSocket-Protocol") for word in value.split(",")]


class BoundedLines(logging.Filter):
    """Limits the log to short lines and to a number of lines per minute, so that strangers cannot fill the disk."""

    def __init__(self) -> None:
        super().__init__()
        self._minute, self._lines = 0, 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten the record; False if it is useless, or if there were enough in this minute."""
        if record.getMessage().startswith("opening handshake failed"):
            return False  # the client does not speak HTTP
        minute = int(time.monotonic() // 60)
        self._minute, self._lines = minute, 1 if minute != self._minute else self._lines + 1
        cause = f" ({record.exc_info[1]!r})" if record.exc_info else ""
        line = "".join(letter if letter.isprintable() else "�" for letter in record.getMessage() + cause)
        record.msg, record.args = line[:LONGEST_LINE], ()
        record.exc_info = record.exc_text = record.stack_info = None
        return self._lines <= LINES_A_MINUTE


def _quiet_logger() -> logging.Logger:
    """Return a logger for one server."""
    logger = logging.Logger("point2node.view", logging.WARNING)
    logger.parent = logging.getLogger()
    logger.addFilter(BoundedLines())
    return logger

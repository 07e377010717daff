"""The viewer's door, as hostile clients try it: HTTP and WebSockets with foreign names, pages and tokens."""

import http.client
import logging
import socket
from urllib.parse import urlsplit

import pytest
import viser
import websockets
from hypothesis import given
from hypothesis import strategies as st
from websockets.datastructures import Headers
from websockets.exceptions import InvalidStatus
from websockets.http11 import Request
from websockets.sync.client import connect

from point2node.show.viewer.app import Viewer
from point2node.show.viewer.door import LINES_A_MINUTE, LONGEST_LINE, BoundedLines, Door

PROTOCOL = f"viser-v{viser.__version__}"


@pytest.fixture(scope="module")
def viewer(labeller):
    running = Viewer(labeller, {}, port=0)
    yield running
    running.stop()


def token_of(viewer):
    return urlsplit(viewer.url).query.removeprefix("token=")


def get(viewer, path="/", **headers):
    """Status, headers and body of a plain request."""
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=60)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def open_socket(viewer, path="/", host=None, protocol=PROTOCOL, **headers):
    """A WebSocket as a page's script opens it."""
    address = f"ws://{host or '127.0.0.1'}:{viewer.port}{path}"
    plain = socket.create_connection(("127.0.0.1", viewer.port))
    return connect(address, sock=plain, subprotocols=[protocol], additional_headers=headers, proxy=None)


def test_the_link_opens_the_page_and_gives_a_cookie_that_opens_the_socket(viewer):
    status, headers, body = get(viewer, f"/?token={token_of(viewer)}")
    assert status == 200
    assert b"<html" in body
    cookie = headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert headers["Referrer-Policy"] == "no-referrer"
    own = f"http://127.0.0.1:{viewer.port}"
    with open_socket(viewer, Cookie=cookie.partition(";")[0], Origin=own) as opened:
        assert opened.recv(timeout=60)


@pytest.mark.parametrize("path", ["/", "/?token=", "/?token=wrong", "/?token=%00", "/?other=1", "/index.html"])
def test_without_the_token_there_is_neither_page_nor_socket(viewer, path):
    status, headers, body = get(viewer, path)
    assert status == 403
    assert b"<html" not in body
    assert "Set-Cookie" not in headers
    with pytest.raises(InvalidStatus, match="403"):
        open_socket(viewer, path)


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1", "http://127.0.0.1:1", "http://["]
)
def test_a_page_of_another_server_gets_nothing_even_with_the_token(viewer, origin):
    path = f"/?token={token_of(viewer)}"
    with pytest.raises(InvalidStatus, match="403"):
        open_socket(viewer, path, Origin=origin)
    assert get(viewer, path, Origin=origin)[0] == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "[", "", "192.0.2.7"])
def test_a_name_that_an_attacker_owns_leads_nowhere(viewer, host):
    assert get(viewer, f"/?token={token_of(viewer)}", Host=host)[0] == 403


def test_names_of_this_machine_lead_here_and_so_does_a_tunnel(viewer):
    path = f"/?token={token_of(viewer)}"
    for host in (f"localhost:{viewer.port}", "127.0.0.1:9999", "[::1]:8080", "LOCALHOST"):
        assert get(viewer, path, Host=host)[0] == 200


def test_a_page_of_another_version_is_turned_away_before_anything_is_printed(viewer, capfd):
    for protocol in ("viser-v0.0.1", "viser-v" + "x" * 3000):
        with pytest.raises(InvalidStatus, match="403"):
            open_socket(viewer, f"/?token={token_of(viewer)}", protocol=protocol)
    captured = capfd.readouterr()
    assert "Version mismatch" not in captured.out
    assert not captured.err


def test_noise_at_the_door_is_not_logged(viewer, capfd):
    for noise in (b"\x16\x03\x01\x02garbage\r\n\r\n", b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n", b""):
        with socket.create_connection(("127.0.0.1", viewer.port), timeout=60) as stranger:
            stranger.sendall(noise)
            stranger.shutdown(socket.SHUT_WR)
            while stranger.recv(4096):
                pass
    assert get(viewer, f"/?token={token_of(viewer)}")[0] == 200
    assert not capfd.readouterr().err


def test_lines_are_short_single_and_few():
    logger = logging.Logger("door")
    heard = []
    handler = logging.Handler()
    handler.emit = lambda record: heard.append(logging.Formatter().format(record))
    logger.addHandler(handler)
    logger.addFilter(BoundedLines())
    for _ in range(10 * LINES_A_MINUTE):
        try:
            raise ValueError("y\n" * 500)
        except ValueError:
            logger.exception("failed\nwith %s", "x\x1b[2J" * 500)
    assert len(heard) <= 2 * LINES_A_MINUTE  # a minute may have ended in between
    assert all(len(line) <= LONGEST_LINE and line.isprintable() for line in heard)


def request(host, path="/", **headers):
    return Request(path, Headers(Host=host, **headers))


@pytest.mark.parametrize(
    ("bound", "host", "enters"),
    [
        ("127.0.0.1", "localhost:8080", True),
        ("127.0.0.1", "10.0.0.1:8080", False),
        ("0.0.0.0", "10.0.0.1:8080", True),
        ("0.0.0.0", "[fe80::1]:8080", True),
        ("0.0.0.0", socket.gethostname(), True),
        ("0.0.0.0", "evil.example:8080", False),
        ("::", "evil.example", False),
        ("scanner.lan", "SCANNER.lan:8080", True),
        ("scanner.lan", "evil.example:8080", False),
    ],
)
def test_a_server_for_others_answers_to_its_own_names_alone(bound, host, enters):
    door = Door(bound)
    assert (door.rejection_reason(request(host, f"/?token={door.token}")) == "") == enters
    assert door.rejection_reason(request(host))


def test_every_server_has_a_token_of_its_own():
    assert Door("127.0.0.1").token != Door("127.0.0.1").token
    assert len(Door("127.0.0.1").token) >= 32


header_values = st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), max_size=80)


@given(header_values, header_values, st.text(max_size=80))
def test_no_header_breaks_the_door(host, cookie, path):
    door = Door("127.0.0.1")
    for name in ("Cookie", "Origin", "Upgrade", "Sec-WebSocket-Protocol"):
        assert door.rejection_reason(request(host, path, **{name: cookie}))
        assert door.rejection_reason(request("localhost", path, **{name: cookie}))


def test_a_viser_that_starts_in_another_way_is_refused():
    with pytest.raises(RuntimeError, match="open to everybody"), Door("127.0.0.1").guarding():
        pass
    assert websockets.asyncio.server.serve.__module__.startswith("websockets")

"""A page without a browser: speaks to the real server over its real socket, as the page's script does."""

import http.client
import re
import socket
import time
from html import unescape
from threading import Thread
from urllib.parse import urlsplit

import msgspec.msgpack
import viser
import zstandard
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

DOWN = (0.0, 1.0, 0.0, 0.0)
"""The camera looks straight down."""


class WirePage:
    """What a visitor's page knows of the server, and what a visitor does on it.

    Args:
        url: the link that the server has printed.
    """

    def __init__(self, url):
        parts = urlsplit(url)
        asked = http.client.HTTPConnection(parts.hostname, parts.port, timeout=120)
        asked.request("GET", f"{parts.path}?{parts.query}")
        cookie = asked.getresponse().headers["Set-Cookie"].partition(";")[0]
        asked.close()
        plain = socket.create_connection((parts.hostname, parts.port))
        self._socket = connect(
            f"ws://{parts.netloc}/", sock=plain, subprotocols=[f"viser-v{viser.__version__}"], proxy=None,
            max_size=None, additional_headers={"Cookie": cookie, "Origin": f"http://{parts.netloc}"},
        )  # fmt: skip
        self.controls, self.nodes = {}, {}
        Thread(target=self._listen, daemon=True).start()
        self._send(
            type="ViewerCameraMessage", wxyz=DOWN, position=(0.0, 0.0, 6.0), fov=0.8, near=0.1, far=100.0,
            image_height=800, image_width=800, look_at=(0.0, 0.0, 0.0), up_direction=(0.0, 1.0, 0.0),
        )  # fmt: skip

    def _send(self, **message):
        self._socket.send(msgspec.msgpack.encode(message))

    def _listen(self):
        try:
            while True:
                frame = self._socket.recv()
                size = int.from_bytes(frame[8:16], "little")
                for message in msgspec.msgpack.decode(zstandard.decompress(frame[16 : 16 + size]))["messages"]:
                    self._take(message)
        except (ConnectionClosed, OSError):
            return

    def _take(self, message):
        kind = message["type"]
        if kind == "GuiUpdateMessage":
            self.controls.setdefault(message["uuid"], {}).update(message["updates"])
        elif kind == "GuiRemoveMessage":
            self.controls.pop(message["uuid"], None)
        elif kind == "RemoveSceneNodeMessage":
            gone = message["name"]
            self.nodes = {key: one for key, one in self.nodes.items() if key != gone and not key.startswith(gone + "/")}
        elif kind.startswith("Gui") and "uuid" in message:
            self.controls[message["uuid"]] = {**message.get("props", {}), "value": message.get("value")}
        elif "name" in message and "props" in message:
            self.nodes[message["name"]] = message

    def _find(self, label):
        self.wait(lambda: any(one.get("label") == label for one in list(self.controls.values())), f"control {label}")
        return next(key for key, one in list(self.controls.items()) if one.get("label") == label)

    def choose(self, label, value):
        self._send(type="GuiUpdateMessage", uuid=self._find(label), updates={"value": value})

    def press(self, label):
        self.wait(lambda: not self.controls[self._find(label)].get("disabled"), f"button {label}")
        self.choose(label, True)

    def click(self, x, y):
        """Click at a place of the plan, from above."""
        self._send(
            type="ScenePointerMessage", event_type="click", ray_origin=(x, y, 6.0), ray_direction=(0.0, 0.0, -1.0),
            screen_pos=((0.5, 0.5),), modifier=None,
        )  # fmt: skip

    def drag(self, low, high):
        """Draw a rectangle on the screen while shift is held."""
        self._send(
            type="ScenePointerMessage", event_type="rect-select", ray_origin=None, ray_direction=None,
            screen_pos=(low, high), modifier="shift",
        )  # fmt: skip

    @property
    def text(self):
        """All that the page says."""
        said = " ".join(str(one.get("content", "")) for one in list(self.controls.values()))
        return unescape(re.sub("<[^>]+>", " ", said))

    def wait(self, condition, what, seconds=300):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"never: {what}; the page says {self.text!r}"
            time.sleep(0.05)

    def wait_for(self, text):
        self.wait(lambda: text in self.text, text)

    def close(self):
        self._socket.close()

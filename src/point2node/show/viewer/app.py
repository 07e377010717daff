"""The server of the local web app: one session for each visitor, by default on the loopback address."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import viser

from point2node.core.errors import InputError
from point2node.core.writing import reason
from point2node.inference.labeller import Options, SceneLabeller
from point2node.show.viewer.controls import Controls
from point2node.show.viewer.door import EVERYWHERE, LOOPBACK, Door
from point2node.show.viewer.files import remove_abandoned_uploads
from point2node.show.viewer.session import Session
from point2node.show.viewer.workbench import Workbench

BRAND = (66, 99, 235)


def check_host(host: str) -> None:
    """Raise InputError for an address of another machine, where viser would search for a free port forever."""
    try:
        socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError as error:
        raise InputError("--host", expected="an address of this machine", found=f"{host} ({reason(error)})") from error


class PrivateServer(viser.ViserServer):
    """A viser server that never opens a public tunnel, which viser's own does for any page that requests it."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Return None: sharing is disabled."""
        return None


class Viewer:
    """The running app.

    Args:
        labeller: the weights.
        scans: files to choose from, by the names shown.
        options: the initial settings for reading them.
        host: the address to listen on.
        port: the port; the next free one if it is taken.
        most_megabytes: the largest size of an upload.
    """

    def __init__(
        self,
        labeller: SceneLabeller,
        scans: Mapping[str, Path],
        options: Options | None = None,
        *,
        host: str = LOOPBACK[0],
        port: int = 8080,
        most_megabytes: float = 500,
    ) -> None:
        self._workbench = Workbench(labeller, scans.values())
        self._scans, self._options, self._most_megabytes = scans, options or Options(), most_megabytes
        self._sessions: dict[int, Session] = {}
        self._host = host
        self._door = Door(host)
        remove_abandoned_uploads()
        with (
            redirect_stdout(StringIO()),
            self._door.guarding(),
        ):  # hides viser's banner: the command prints the link
            self.server = PrivateServer(host=host, port=port, label="Point2Node", verbose=False)
        self.server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BRAND)
        self.server.gui.main_panel.dock_right()
        self.server.on_client_connect(self._open_session)
        self.server.on_client_disconnect(self._close_session)

    @property
    def port(self) -> int:
        """The port that is actually used."""
        return self.server.get_port()

    @property
    def url(self) -> str:
        """The link to open in a browser on this machine, with the access token."""
        shown = LOOPBACK[0] if self._host in EVERYWHERE else self._host
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}/?token={self._door.token}"

    def _open_session(self, client: viser.ClientHandle) -> None:
        server = self.server
        session = Session(
            client,
            self._workbench,
            Controls(client, tuple(self._scans), self._options),
            self._scans,
            self._most_megabytes,
            lambda: client.client_id in server.get_clients(),
        )
        self._sessions[client.client_id] = session
        if client.client_id not in server.get_clients():  # left while the page was made: there is no further event
            self._close_session(client)
            return
        session.connect()

    def _close_session(self, client: viser.ClientHandle) -> None:
        session = self._sessions.pop(client.client_id, None)
        if session is not None:
            session.close()

    def stop(self) -> None:
        """Stop the server; running work stops at its next report."""
        self._workbench.is_closed = True
        self.server.stop()
        for session in list(self._sessions.values()):
            session.close()

import urllib.request

import pytest

from point2node.cli import view
from point2node.core.errors import InputError
from point2node.show.viewer.app import Viewer, check_host


@pytest.fixture
def viewer(labeller):
    running = Viewer(labeller, {}, port=0)
    yield running
    running.stop()


def test_the_page_is_served_on_the_loopback_address_alone(viewer):
    assert viewer.url.startswith(f"http://127.0.0.1:{viewer.port}/?token=")
    with urllib.request.urlopen(viewer.url, timeout=60) as answer:
        assert b"<html" in answer.read()
    assert viewer.server.get_host() == "127.0.0.1"


def test_a_taken_port_becomes_another_which_is_named(labeller, viewer):
    second = Viewer(labeller, {}, port=viewer.port)
    try:
        assert second.port != viewer.port
        assert f":{second.port}/" in second.url
    finally:
        second.stop()


def test_a_page_that_asks_for_a_public_address_gets_none(viewer):
    assert viewer.server.request_share_url() is None


def test_an_address_of_another_machine_is_refused():
    check_host("127.0.0.1")
    with pytest.raises(InputError, match=r"--host: expected an address of this machine, found 192\.0\.2\.1"):
        check_host("192.0.2.1")  # reserved for documents: no machine has it


def test_without_the_library_one_line_says_how_to_install_it(monkeypatch):
    view.check_library()
    monkeypatch.setattr(view, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'point2node\[view\]'"):
        view.check_library()

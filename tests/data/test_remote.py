"""Files at URLs, on fsspec's file system in memory and on a web server of the test's own."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import fsspec
import pytest

from point2node.core.errors import InputError
from point2node.data.remote import RemotePath, place_of


@pytest.fixture
def bucket():
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]
    yield RemotePath("memory://bucket")
    memory.store.clear()


def test_words_with_a_scheme_are_urls_and_all_others_are_local():
    assert place_of("s3://bucket/a.ply") == RemotePath("s3://bucket/a.ply")
    assert place_of("folder/a.ply") == Path("folder/a.ply")


def test_names_are_those_of_a_path():
    scan = RemotePath("s3://bucket/rooms/a.b.laz")
    assert (scan.name, scan.stem, scan.suffix) == ("a.b.laz", "a.b", ".laz")
    assert scan.with_name("c.ply") == scan.parent / "c.ply" == RemotePath("s3://bucket/rooms/c.ply")
    assert scan.with_suffix(".ply") == RemotePath("s3://bucket/rooms/a.b.ply")
    assert str(scan.relative_to(RemotePath("s3://bucket"))) == "rooms/a.b.laz"


def test_passwords_and_signatures_are_not_shown():
    signed = RemotePath("https://me:secret@host/rooms/a.laz?X-Signature=secret")
    assert str(signed) == "https://host/rooms/a.laz"
    assert signed.suffix == ".laz"


def test_what_is_written_is_read_and_a_change_is_another_state(bucket, tmp_path):
    file = bucket / "rooms/a.txt"
    assert not file.exists()
    file.write_bytes(b"one")
    assert file.is_file()
    assert file.read_text() == "one"
    before = file.stat()
    assert before == file.stat()
    (tmp_path / "new").write_text("other")
    file.send(tmp_path / "new")
    assert file.stat() != before
    file.fetch(tmp_path / "back")
    assert (tmp_path / "back").read_text() == "other"


def test_folders_and_patterns_are_listed(bucket):
    for name in ("a.ply", "sub/b.ply", "sub/c.txt"):
        (bucket / name).write_bytes(b"x")
    assert bucket.find() == (bucket, [bucket / "a.ply", bucket / "sub/b.ply", bucket / "sub/c.txt"])
    assert (bucket / "*/*.ply").find() == (bucket, [bucket / "sub/b.ply"])


def test_what_is_not_there_is_an_os_error(bucket):
    with pytest.raises(FileNotFoundError):
        (bucket / "nothing.ply").stat()


@pytest.mark.parametrize("url", ["nobodyknows://bucket/a.ply", "oci://bucket/a.ply"])
def test_a_scheme_that_nothing_installed_knows_is_refused_in_one_line(url):
    with pytest.raises(InputError, match=r"://bucket/a\.ply: expected") as caught:
        RemotePath(url).stat()
    assert "\n" not in str(caught.value)


def test_a_web_server_gives_files(tmp_path):
    (tmp_path / "a.txt").write_text("web")
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        file = RemotePath(f"http://127.0.0.1:{server.server_port}/a.txt?signature=x")
        assert file.stat().st_size == 3
        file.fetch(tmp_path / "fetched")
        with pytest.raises(FileNotFoundError):
            file.with_name("b.txt").stat()
        server.shutdown()
    assert (tmp_path / "fetched").read_text() == "web"

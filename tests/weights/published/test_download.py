import hashlib
import os
import random
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.weights.webserver import Behaviour, serving

from elmo.errors import WeightsError
from elmo.weights.published import download
from elmo.weights.published.download import RemoteFile, fetch
from elmo.weights.published.records import recorded_sha256

CONTENT = random.Random(0).randbytes(300_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def _no_pauses_and_no_proxies(monkeypatch):
    monkeypatch.setattr(download, "PAUSE_SECONDS", 0)
    monkeypatch.setenv("no_proxy", "*")


def _file(*urls: str, sha256: str | None = None) -> RemoteFile:
    return RemoteFile(name="file.bin", urls=urls, sha256=sha256)


def _names(directory: Path) -> list[str]:
    return sorted(p.name for p in directory.iterdir() if not p.name.endswith(".lock"))


def test_a_file_is_fetched_once_and_its_hash_is_kept(tmp_path):
    with serving(Behaviour(CONTENT)) as url:
        path = fetch(_file(url), tmp_path / "m")
    assert path.read_bytes() == CONTENT
    assert recorded_sha256(path) == SHA256
    assert _names(tmp_path / "m") == ["file.bin", "file.bin.record.json"]
    assert fetch(_file(url), tmp_path / "m", offline=True) == path  # the server is gone


def test_a_cut_connection_is_resumed_where_it_broke_off(tmp_path):
    behaviour = Behaviour(CONTENT, cuts=[100_000, 250_000])
    with serving(behaviour) as url:
        assert fetch(_file(url, sha256=SHA256), tmp_path).read_bytes() == CONTENT
    assert [r.get("Range") for r in behaviour.requests] == [None, "bytes=100000-", "bytes=250000-"]


def test_a_download_goes_on_in_a_later_process(tmp_path):
    behaviour = Behaviour(CONTENT, cuts=[100_000] * download.TRIES)
    with serving(behaviour) as url:
        with pytest.raises(WeightsError, match="broke off 5 times"):
            fetch(_file(url), tmp_path)
        assert (tmp_path / "file.bin.part").stat().st_size == 100_000
        assert not (tmp_path / "file.bin").exists()
        behaviour.requests.clear()
        assert fetch(_file(url), tmp_path).read_bytes() == CONTENT
    assert behaviour.requests[0]["Range"] == "bytes=100000-"


def test_a_file_that_changed_meanwhile_is_begun_anew(tmp_path):
    behaviour = Behaviour(b"old" * 1000, cuts=[1500] * download.TRIES)
    with serving(behaviour) as url:
        with pytest.raises(WeightsError):
            fetch(_file(url), tmp_path)
        behaviour.content, behaviour.etag = CONTENT, '"v2"'
        assert fetch(_file(url), tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("behaviour", [Behaviour(CONTENT, ranges=False), Behaviour(CONTENT, etag=None)])
def test_a_server_that_cannot_resume_is_asked_for_all_of_it(behaviour, tmp_path):
    behaviour.cuts = [100_000]
    with serving(behaviour) as url:
        assert fetch(_file(url), tmp_path).read_bytes() == CONTENT


def test_a_partial_file_longer_than_the_file_is_begun_anew(tmp_path):
    (tmp_path / "file.bin.part").write_bytes(b"x" * 400_000)
    (tmp_path / "file.bin.part.json").write_text('{"validator": "\\"v1\\""}', encoding="utf-8")
    with serving(Behaviour(CONTENT)) as url:
        assert fetch(_file(url), tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("announced", [len(CONTENT) + 1, len(CONTENT) * 2])
def test_fewer_bytes_than_announced_are_not_taken_for_the_file(announced, tmp_path):
    broken = pytest.raises(WeightsError, match=f"broke off after 300,000 of {announced:,} bytes")
    with serving(Behaviour(CONTENT, announced=announced, etag=None)) as url, broken:
        fetch(_file(url), tmp_path)
    assert not (tmp_path / "file.bin").exists()


def test_a_wrong_hash_is_refused_and_the_file_set_aside(tmp_path):
    with serving(Behaviour(CONTENT)) as url, pytest.raises(WeightsError, match=f"{SHA256}, but {'0' * 64} is wanted"):
        fetch(_file(url, sha256="0" * 64), tmp_path)
    assert _names(tmp_path) == ["file.bin.wrong"]


def test_a_file_that_is_not_the_one_first_seen_is_refused(tmp_path):
    behaviour = Behaviour(CONTENT)
    with serving(behaviour) as url:
        fetch(_file(url), tmp_path).unlink()
        behaviour.content, behaviour.etag = b"something else", '"v2"'
        with pytest.raises(WeightsError, match="is wanted; it was set aside"):
            fetch(_file(url), tmp_path)


@pytest.mark.parametrize("name", ["weights.hdf5", "options.json", "209.zip"])
def test_a_web_page_in_place_of_the_file_is_not_kept(name, tmp_path):
    with serving(Behaviour(b"<html>please log in</html>")) as url, pytest.raises(WeightsError, match="a web page"):
        fetch(RemoteFile(name=name, urls=(url,)), tmp_path)
    assert _names(tmp_path) == [f"{name}.wrong"]


def test_a_cache_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WeightsError, match="set ELMO_CACHE to another folder"):
        fetch(_file("http://127.0.0.1:9/file.bin"), tmp_path / "file" / "inside")


def test_a_file_put_there_by_hand_is_taken_and_checked(tmp_path):
    (tmp_path / "file.bin").write_bytes(CONTENT)
    assert fetch(_file("http://127.0.0.1:9/file.bin"), tmp_path, offline=True).read_bytes() == CONTENT
    assert recorded_sha256(tmp_path / "file.bin") == SHA256


def test_a_busy_server_is_asked_again_and_another_address_is_tried(tmp_path):
    with serving(Behaviour(CONTENT, statuses=[503, 500])) as url:
        assert fetch(_file(url), tmp_path / "a").read_bytes() == CONTENT
    with serving(Behaviour(b"", statuses=[404])) as gone, serving(Behaviour(CONTENT)) as url:
        assert fetch(_file(gone, url), tmp_path / "b").read_bytes() == CONTENT


def test_without_a_network_the_error_names_address_and_place(tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/file.bin"
    for offline in (False, True):
        with pytest.raises(WeightsError) as caught:
            fetch(_file(url), tmp_path, offline=offline)
        message = str(caught.value)
        assert f"get it from {url} and put it at {tmp_path / 'file.bin'}" in message
        assert "\n" not in message


@pytest.mark.parametrize("target", ["file:///etc/hostname", "ftp://127.0.0.1/x"])
def test_a_redirect_out_of_the_web_is_not_followed(target, tmp_path):
    with serving(Behaviour(CONTENT, redirect=target)) as url, pytest.raises(WeightsError, match="cannot be downloaded"):
        fetch(_file(url), tmp_path)
    assert not (tmp_path / "file.bin").exists()


def test_a_redirect_to_an_unencrypted_address_is_not_followed():
    request = download.urllib.request.Request("https://example.org/file.bin")
    with pytest.raises(download.urllib.error.URLError, match="unencrypted"):
        download._SafeRedirects().redirect_request(request, None, 302, "", None, "http://example.org/file.bin")


def test_more_bytes_than_are_ever_taken_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(download, "MOST_BYTES", 1000)
    with serving(Behaviour(CONTENT)) as url, pytest.raises(WeightsError, match="announced 300,000 bytes"):
        fetch(_file(url), tmp_path)


def test_two_processes_at_once_fetch_it_once(tmp_path):
    behaviour = Behaviour(random.Random(1).randbytes(8_000_000))
    program = (
        "import sys; from pathlib import Path; from elmo.weights.published.download import RemoteFile, fetch\n"
        "sys.stdin.readline()\n"
        "path = fetch(RemoteFile(name='file.bin', urls=(sys.argv[1],)), Path(sys.argv[2]))\n"
        "print(len(path.read_bytes()))\n"
    )
    with serving(behaviour) as url:
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", program, url, str(tmp_path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ},
                text=True,
            )
            for _ in range(2)
        ]
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        assert [process.communicate()[0].strip() for process in processes] == ["8000000", "8000000"]
    assert len(behaviour.requests) == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize("known", [None, SHA256])
def test_a_file_that_others_can_write_is_checked_at_every_use(tmp_path, known):
    with serving(Behaviour(CONTENT)) as url:
        file = _file(url, sha256=known)
        path = fetch(file, tmp_path / "m")
    assert path.stat().st_mode & 0o022 == 0
    path.parent.chmod(0o777)
    assert fetch(file, tmp_path / "m") == path
    path.write_bytes(b"something else")
    with pytest.raises(WeightsError, match="its sha256 is"):
        fetch(file, tmp_path / "m")

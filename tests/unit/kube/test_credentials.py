"""Logins that change while we run, and that no log ever shows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from etcd_operator.kube.credentials import ClientCertificate, FixedHeaders, Together, Token, bearer
from etcd_operator.kube.errors import ConfigurationError
from etcd_operator.kube.tls import Certificate, Contexts, Trust
from etcd_operator.kube.watched_file import WatchedFile


def watched(path: Path, text: str) -> WatchedFile:
    path.write_text(text)
    return WatchedFile(path, role="token file")


def unnoticed(path: Path, text: str) -> None:
    """Changes a file of the same length in place, and sets its times back."""
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_file_is_read_again_only_when_it_changed(tmp_path: Path) -> None:
    file = watched(tmp_path / "t", "a")
    first = file.read()

    assert file.read() is first
    (tmp_path / "t").write_text("bb")
    assert file.read() == b"bb"


def test_a_swapped_link_is_a_change(tmp_path: Path) -> None:
    """The kubelet renews mounted secrets so."""
    for name in ("1", "2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "token").write_text(name)
    (tmp_path / "data").symlink_to("1")
    file = WatchedFile(tmp_path / "data" / "token", role="token")
    assert file.read() == b"1"

    (tmp_path / "next").symlink_to("2")
    (tmp_path / "next").rename(tmp_path / "data")

    assert file.read() == b"2"


def test_a_file_that_is_gone_for_a_moment_is_what_it_was(tmp_path: Path) -> None:
    file = watched(tmp_path / "t", "a")
    file.read()

    (tmp_path / "t").unlink()
    assert file.read() == b"a"
    file.forget()
    assert file.read() == b"a"
    (tmp_path / "t").write_text("b")
    assert file.read() == b"b"


def test_a_file_that_is_empty_for_a_moment_is_what_it_was(tmp_path: Path) -> None:
    file = watched(tmp_path / "t", "a")
    file.read()

    (tmp_path / "t").write_text("")
    assert file.read() == b"a"
    (tmp_path / "t").write_text("b")
    assert file.read() == b"b"


def test_a_file_that_never_was_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=f"the token file {tmp_path}/t cannot be read: No such file"):
        WatchedFile(tmp_path / "t", role="token file").read()


async def test_a_refused_token_is_read_again_however_unchanged_its_file_looks(tmp_path: Path) -> None:
    token = Token(watched(tmp_path / "t", "old"))
    old = await token.login()
    unnoticed(tmp_path / "t", "new")

    assert await token.login(rejected=old) == bearer("new")


async def test_a_refused_token_that_is_the_only_one_is_given_again(tmp_path: Path) -> None:
    token = Token(watched(tmp_path / "t", "only"))

    assert await token.login(rejected=await token.login()) == bearer("only")
    assert await Token("fixed").login(rejected=bearer("fixed")) == bearer("fixed")


@pytest.mark.parametrize(("text", "words"), [("  \n", "is empty"), ("\udcff", "holds no text")])
async def test_a_token_file_without_a_token_is_an_error(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "t").write_bytes(text.encode(errors="surrogateescape"))

    with pytest.raises(ConfigurationError, match=words):
        await Token(WatchedFile(tmp_path / "t", role="token file")).login()


@pytest.mark.parametrize("token", ["hunter2\nX-Evil: 1", "hunter2 ", "hunter2\r", "hunter2\0"])
async def test_a_token_that_no_header_can_hold_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(ConfigurationError, match="blanks or line breaks") as refused:
        await Token(token).login()
    assert "hunter2" not in str(refused.value)


async def test_several_parts_make_one_login_and_each_is_renewed(tmp_path: Path) -> None:
    token = Token(watched(tmp_path / "t", "old"))
    whole = Together((ClientCertificate(chain=b"c", key=b"k"), token, FixedHeaders((("Impersonate-User", "joe"),))))
    old = await whole.login()
    assert old.certificate == Certificate(chain=b"c", key=b"k")
    assert dict(old.headers) == {"Authorization": "Bearer old", "Impersonate-User": "joe"}

    unnoticed(tmp_path / "t", "new")

    assert dict((await whole.login(rejected=old)).headers)["Authorization"] == "Bearer new"


async def test_a_certificate_is_the_same_value_until_its_files_change(tmp_path: Path) -> None:
    pair = ClientCertificate(chain=watched(tmp_path / "c", "c"), key=watched(tmp_path / "k", "k"))
    first = await pair.login()

    assert await pair.login() is first
    (tmp_path / "k").write_text("new")
    assert (await pair.login()).certificate == Certificate(chain=b"c", key=b"new")


async def test_no_secret_is_ever_shown(tmp_path: Path) -> None:
    whole = Together((ClientCertificate(chain=b"chain", key=b"hunter2"), Token("hunter2")))

    shown = repr(await whole.login()) + repr((await whole.login()).certificate)

    assert "hunter2" not in shown
    assert "Authorization" in shown


def test_a_certificate_or_an_authority_that_is_none_says_so() -> None:
    with pytest.raises(ConfigurationError, match="the certificate authority is not PEM"):
        Contexts(Trust(authority=b"nonsense")).context(None)
    with pytest.raises(ConfigurationError, match="client certificate and its key cannot be used together"):
        Contexts(Trust()).context(Certificate(chain=b"nonsense", key=b"nonsense"))

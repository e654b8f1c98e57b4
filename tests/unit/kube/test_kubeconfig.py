"""Kubeconfigs: merged as kubectl does it, and clear about what is wrong with them."""

from __future__ import annotations

import base64
import traceback
from pathlib import Path
from typing import Any

import pytest
import yaml

from etcd_operator.kube.errors import ConfigurationError
from etcd_operator.kube.kubeconfig import from_kubeconfig
from etcd_operator.kube.tls import content


def named(kind: str, **entries: Any) -> list[dict[str, Any]]:
    return [{"name": name, kind: entry} for name, entry in entries.items()]


def config(*, current: str = "", contexts: Any = None, clusters: Any = None, users: Any = None) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": current,
        "contexts": named("context", **(contexts or {})),
        "clusters": named("cluster", **(clusters or {})),
        "users": named("user", **(users or {})),
    }


def write(path: Path, what: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(what if isinstance(what, str) else yaml.safe_dump(what))
    return path


def one(folder: Path, *, cluster: Any = None, user: Any = None, context: Any = None) -> Path:
    """A file with one of everything."""
    return write(
        folder / "config",
        config(
            current="c",
            contexts={"c": {"cluster": "c", "user": "u"} | (context or {})},
            clusters={"c": {"server": "https://c:6443"} | (cluster or {})},
            users={"u": user or {}},
        ),
    )


async def headers(*files: Path, **options: Any) -> dict[str, str]:
    login = await from_kubeconfig(files=files, **options).credentials.login()
    return dict(login.headers)


def test_the_current_context_says_which_cluster_and_where_in_it(tmp_path: Path) -> None:
    connection = from_kubeconfig(files=(one(tmp_path, context={"namespace": "here"}),))

    assert (connection.server, connection.namespace) == ("https://c:6443", "here")
    assert from_kubeconfig(files=(one(tmp_path),)).namespace == "default"


async def test_another_context_can_be_named(tmp_path: Path) -> None:
    file = write(
        tmp_path / "config",
        config(
            current="a",
            contexts={"a": {"cluster": "a", "user": "a"}, "b": {"cluster": "b", "user": "b"}},
            clusters={"a": {"server": "https://a"}, "b": {"server": "https://b"}},
            users={"a": {"token": "a"}, "b": {"token": "b"}},
        ),
    )

    assert from_kubeconfig(files=(file,), context="b").server == "https://b"
    assert await headers(file, context="b") == {"Authorization": "Bearer b"}


async def test_of_several_files_the_first_word_stands(tmp_path: Path) -> None:
    first = write(tmp_path / "1", config(users={"u": {"token": "first"}}, clusters={"x": {"server": "https://x"}}))
    second = one(tmp_path / "2", user={"token": "second"})
    environment = {"KUBECONFIG": f"{first}:{tmp_path / 'missing'}::{second}"}

    connection = from_kubeconfig(environment=environment)

    assert connection.server == "https://c:6443"
    assert dict((await connection.credentials.login()).headers) == {"Authorization": "Bearer first"}


async def test_paths_are_relative_to_the_file_that_names_them(tmp_path: Path) -> None:
    first = write(tmp_path / "1" / "config", config(users={"u": {"tokenFile": "sub/token"}}))
    second = one(tmp_path / "2", cluster={"certificate-authority": "ca.crt"})
    write(tmp_path / "1" / "sub" / "token", "right\n")
    write(tmp_path / "2" / "ca.crt", "authority")

    connection = from_kubeconfig(files=(first, second))

    assert dict((await connection.credentials.login()).headers) == {"Authorization": "Bearer right"}
    assert connection.trust.authority is not None
    assert content(connection.trust.authority) == b"authority"


def test_without_a_word_it_is_the_one_in_the_home_folder(tmp_path: Path) -> None:
    one(tmp_path / ".kube")

    assert from_kubeconfig(environment={"HOME": str(tmp_path)}).server == "https://c:6443"


async def test_each_way_to_say_who_one_is(tmp_path: Path) -> None:
    write(tmp_path / "t", "from-file")

    assert await headers(one(tmp_path, user={"token": "t"})) == {"Authorization": "Bearer t"}
    assert await headers(one(tmp_path, user={"token": "t", "tokenFile": "t"})) == {"Authorization": "Bearer from-file"}
    basic = base64.b64encode(b"jane:secret").decode()
    assert await headers(one(tmp_path, user={"username": "jane", "password": "secret"})) == {
        "Authorization": f"Basic {basic}"
    }
    assert await headers(one(tmp_path)) == {}
    assert await headers(one(tmp_path, user={"token": "t", "as": "joe", "as-user-extra": {"team": ["a"]}})) == {
        "Authorization": "Bearer t",
        "Impersonate-User": "joe",
        "Impersonate-Extra-team": "a",
    }
    extra = {"example.com/a b": ["c"]}
    assert (await headers(one(tmp_path, user={"as": "joe", "as-user-extra": extra})))[
        "Impersonate-Extra-example.com%2Fa%20b"
    ] == "c"


async def test_data_wins_over_files(tmp_path: Path) -> None:
    data = base64.b64encode(b"inside").decode()
    user = {"client-certificate": "no", "client-certificate-data": data, "client-key": "no", "client-key-data": data}
    file = one(tmp_path, user=user, cluster={"certificate-authority": "no", "certificate-authority-data": data})

    connection = from_kubeconfig(files=(file,))

    assert connection.trust.authority == b"inside"
    certificate = (await connection.credentials.login()).certificate
    assert certificate is not None
    assert (certificate.chain, certificate.key) == (b"inside", b"inside")


def test_a_broken_entry_that_is_not_in_use_harms_nobody(tmp_path: Path) -> None:
    good = one(tmp_path)
    bad = write(
        tmp_path / "bad", config(clusters={"x": {"server": 5}}, users={"y": {"auth-provider": {"name": "gcp"}}})
    )

    assert from_kubeconfig(files=(bad, good)).server == "https://c:6443"


def test_data_may_be_wrapped_into_lines(tmp_path: Path) -> None:
    data = "\r\n".join(base64.encodebytes(b"long enough for two lines of base64, and for more").decode().split("\n"))

    connection = from_kubeconfig(files=(one(tmp_path, cluster={"certificate-authority-data": data}),))

    assert connection.trust.authority == b"long enough for two lines of base64, and for more"


@pytest.mark.parametrize("value", ['"hunter2" x', "*hunter2", "!hunter2", "@hunter2"])
def test_a_slip_in_the_line_of_a_password_does_not_show_it(tmp_path: Path, value: str) -> None:
    file = write(tmp_path / "config", f"users:\n- name: u\n  user:\n    password: {value}\n")

    with pytest.raises(ConfigurationError, match=r"is not YAML: see line 4") as refused:
        from_kubeconfig(files=(file,))

    assert "hunter2" not in "".join(traceback.format_exception(refused.value))


def test_a_path_that_leads_nowhere_is_an_error_with_its_name(tmp_path: Path) -> None:
    write(tmp_path / "file", "")

    with pytest.raises(ConfigurationError, match=f"the kubeconfig {tmp_path}/file/config cannot be read: Not a dir"):
        from_kubeconfig(files=(tmp_path / "file" / "config",))


def test_the_password_of_a_proxy_is_not_shown(tmp_path: Path) -> None:
    connection = from_kubeconfig(files=(one(tmp_path, cluster={"proxy-url": "http://me:hunter2@proxy:3128"}),))

    assert connection.proxy == "http://me:hunter2@proxy:3128"
    assert "hunter2" not in repr(connection)


def test_nulls_are_nothing(tmp_path: Path) -> None:
    file = one(tmp_path, cluster={"proxy-url": None, "extensions": None}, user={"token": None})
    write(tmp_path / "empty", "")

    assert from_kubeconfig(files=(tmp_path / "empty", file)).proxy is None


WRONG: list[tuple[object, str]] = [
    ("{ not: [ yaml", "is not YAML: see line 1, column 14"),
    ("- a list", "holds a list instead of a mapping"),
    ({"contexts": "x"}, "contexts in .* is not a list"),
    ({"users": [{"user": {}}]}, "users in .*: each needs a name and a user"),
    (config(), "has no current-context; contexts in it: none"),
    (config(current="x", contexts={"y": {}}), "there is no context 'x' in .*config; contexts in it: 'y'"),
    (
        config(current="x", contexts={"x": {"cluster": "c"}}),
        "context 'x' in .*: it names the cluster 'c', which is not",
    ),
]


@pytest.mark.parametrize(("what", "words"), WRONG, ids=[words[:30] for _, words in WRONG])
def test_a_file_that_makes_no_sense_is_named_with_what_is_wrong(tmp_path: Path, what: object, words: str) -> None:
    file = write(tmp_path / "config", what)

    with pytest.raises(ConfigurationError, match=words) as refused:
        from_kubeconfig(files=(file,))
    assert str(file) in str(refused.value)


@pytest.mark.parametrize(
    ("cluster", "user", "words"),
    [
        ({"server": "c:6443"}, {}, r"cluster 'c' in .*config: 'c:6443' is no address of an API server"),
        ({"server": ""}, {}, r"cluster 'c' in .*config: '' is no address"),
        ({"server": "https://me:hunter2@c"}, {}, r"cluster 'c' in .*config: a user name or a password in the address"),
        ({"server": 5}, {}, r"cluster 'c' in .*config: Expected `str`, got `int` - at `\$.server`"),
        ({"proxy-url": "socks5://x"}, {}, r"the proxy 'socks5://x' is neither http:// nor https://"),
        ({"proxy-url": "socks5://me:hunter2@x"}, {}, r"the proxy 'x' is neither http:// nor https://"),
        ({"certificate-authority-data": "ü"}, {}, r"the data of the certificate authority is not base64"),
        ({"certificate-authority-data": "?"}, {}, r"cluster 'c' in .*: the data of the certificate authority is not"),
        ({"certificate-authority": "x", "insecure-skip-tls-verify": True}, {}, "only one can be meant"),
        ({}, {"client-key-data": "AAAA"}, r"user 'u' in .*config: it has no client certificate"),
        ({}, {"client-certificate-data": "AAAA"}, "it has no client key"),
        ({}, {"auth-provider": {"name": "gcp"}}, r"user 'u' in .*: the auth-provider 'gcp' went away"),
        ({}, {"as-groups": ["x"]}, "need an `as`"),
        ({}, {"exec": {"command": "x"}}, r"user 'u' in .*: .*missing required field `apiVersion`"),
        ({}, {"exec": {"command": "x", "apiVersion": "other/v1"}}, r"program x of user 'u': it speaks 'other/v1'"),
    ],
)
def test_an_entry_that_makes_no_sense_is_named_with_its_file(
    tmp_path: Path, cluster: Any, user: Any, words: str
) -> None:
    with pytest.raises(ConfigurationError, match=words) as refused:
        from_kubeconfig(files=(one(tmp_path, cluster=cluster, user=user),))
    assert "hunter2" not in str(refused.value)


def test_no_file_at_all_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=f"no kubeconfig at {tmp_path}/a, {tmp_path}/b; say where"):
        from_kubeconfig(environment={"KUBECONFIG": f"{tmp_path}/a:{tmp_path}/b"})


async def test_a_certificate_file_that_is_not_there_is_named_when_it_is_needed(tmp_path: Path) -> None:
    file = one(tmp_path, user={"client-certificate": "gone.crt", "client-key": "gone.key"})

    with pytest.raises(
        ConfigurationError, match=rf"the client certificate {tmp_path}/gone.crt cannot be read: No such"
    ):
        await from_kubeconfig(files=(file,)).credentials.login()

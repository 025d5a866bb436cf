import os
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from gateway.settings import (
    ENV_PREFIX,
    LogFormat,
    LogLevel,
    Settings,
    is_loopback,
    named_keys,
    unknown_variables,
)
from gateway.store.folder import state_folder


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    for name in list(os.environ):
        if name.upper().startswith(ENV_PREFIX):
            monkeypatch.delenv(name)


def test_defaults():
    settings = Settings()
    assert (settings.host, settings.port, settings.allow_open) == ("127.0.0.1", 8000, False)
    assert settings.max_body_bytes == 64 * 1024 * 1024
    assert settings.load_client_keys() == ()
    assert settings.load_admin_keys() == ()


def test_variables_and_what_wins(monkeypatch):
    monkeypatch.setenv("ASCEND_GATEWAY_PORT", "9000")
    monkeypatch.setenv("ASCEND_GATEWAY_DRAIN_S", "1.5")
    monkeypatch.setenv("ASCEND_GATEWAY_CORS_ORIGINS", "https://a, https://b")
    monkeypatch.setenv("ASCEND_GATEWAY_LOG_FORMAT", "text")
    monkeypatch.setenv("ASCEND_GATEWAY_ACCESS_LOG", "false")
    monkeypatch.setenv("ASCEND_GATEWAY_CONFIG_FILE", "/etc/routes.yaml")
    monkeypatch.setenv("ASCEND_GATEWAY_STORE_URL", "")
    settings = Settings(port=9001)
    assert settings.port == 9001
    assert settings.drain_s == 1.5
    assert settings.cors_origins == ("https://a", "https://b")
    assert settings.log_format is LogFormat.TEXT
    assert settings.access_log is False
    assert settings.config_file == Path("/etc/routes.yaml")
    assert settings.store_url is None


EVERY_VARIABLE = {
    "config_file": ("/etc/routes.yaml", Path("/etc/routes.yaml")),
    "watch_config": ("no", False),
    "removed_drain_s": ("0", 0.0),
    "config_history": ("1", 1),
    "state_dir": ("/var/lib/gateway", Path("/var/lib/gateway")),
    "host": ("[::1]", "::1"),
    "port": ("0", 0),
    "tls_cert_file": ("/run/tls.crt", Path("/run/tls.crt")),
    "tls_key_file": ("/run/tls.key", Path("/run/tls.key")),
    "allow_open": ("true", True),
    "client_keys": ("a=k1 k2", (SecretStr("a=k1"), SecretStr("k2"))),
    "client_keys_file": ("/run/keys", Path("/run/keys")),
    "admin_keys": ("k3", (SecretStr("k3"),)),
    "admin_keys_file": ("/run/admin", Path("/run/admin")),
    "cors_origins": ("https://a,https://b", ("https://a", "https://b")),
    "keep_alive_s": ("7.5", 7.5),
    "drain_s": ("0", 0.0),
    "drain_grace_s": ("3", 3.0),
    "head_s": ("12", 12.0),
    "max_body_bytes": ("1024", 1024),
    "max_header_bytes": ("8192", 8192),
    "probe_interval_s": ("1", 1.0),
    "scrape_interval_s": ("0.5", 0.5),
    "probe_timeout_s": ("2", 2.0),
    "max_connections_per_backend": ("9", 9),
    "pool_wait_s": ("0.5", 0.5),
    "backlog": ("16", 16),
    "access_log": ("no", False),
    "log_level": ("debug", LogLevel.DEBUG),
    "log_format": ("text", LogFormat.TEXT),
    "server_header": ("gateway", "gateway"),
    "workers": ("2", 2),
    "store_namespace": ("fleet-b", "fleet-b"),
    "store_url": ("redis://:pw@s", SecretStr("redis://:pw@s")),
}


# What a setting can't be without.
COMPANION = {
    "tls_cert_file": "tls_key_file",
    "tls_key_file": "tls_cert_file",
    "workers": "store_url",
}


def test_every_setting_is_in_the_table():
    assert set(EVERY_VARIABLE) == set(Settings.model_fields)


@pytest.mark.parametrize("name", EVERY_VARIABLE)
def test_each_setting_has_its_variable(name, monkeypatch):
    written, value = EVERY_VARIABLE[name]
    assert getattr(Settings(), name) != value
    monkeypatch.setenv(f"{ENV_PREFIX}{name.upper()}", written)
    if name in COMPANION:
        monkeypatch.setenv(f"{ENV_PREFIX}{COMPANION[name].upper()}", "/run/other")
    assert getattr(Settings(), name) == value


@pytest.mark.parametrize(
    "name",
    ["config_file", "client_keys", "client_keys_file", "admin_keys", "admin_keys_file",
     "cors_origins", "server_header", "state_dir", "store_url", "tls_cert_file", "tls_key_file"],
)  # fmt: skip
def test_an_empty_variable_counts_as_not_set(name, monkeypatch):
    monkeypatch.setenv(f"{ENV_PREFIX}{name.upper()}", "")
    assert getattr(Settings(), name) == Settings.model_fields[name].default


def test_an_empty_list_of_keys_opens_nothing(monkeypatch):
    monkeypatch.setenv("ASCEND_GATEWAY_CLIENT_KEYS", " , ")
    with pytest.raises(ValidationError, match="without client keys"):
        Settings(host="0.0.0.0")


def test_frozen_and_closed():
    settings = Settings()
    with pytest.raises(ValidationError):
        settings.port = 1
    with pytest.raises(ValidationError):
        Settings(prot=1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("port", 65536),
        ("port", -1),
        ("keep_alive_s", 0),
        ("drain_s", -1),
        ("drain_s", float("inf")),
        ("max_body_bytes", 0),
        ("probe_interval_s", 0),
        ("scrape_interval_s", 0),
        ("config_history", 0),
        ("removed_drain_s", -1),
        ("removed_drain_s", float("inf")),
        ("log_level", "loud"),
        ("host", ""),
        ("host", "http://x/"),
    ],
)
def test_impossible_values(field, value):
    with pytest.raises(ValidationError):
        Settings(**{field: value})


@pytest.mark.parametrize(
    ("host", "plain"),
    [("[::1]", "::1"), ("::1", "::1"), ("localhost", "localhost"), ("127.0.0.9", "127.0.0.9")],
)
def test_loopback_needs_no_keys(host, plain):
    assert Settings(host=host).host == plain
    assert is_loopback(plain)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "gateway.example.org"])
def test_beyond_loopback_needs_keys_or_a_word(host, tmp_path):
    with pytest.raises(ValidationError, match="--allow-open"):
        Settings(host=host)
    assert Settings(host=host, allow_open=True).host == host
    assert Settings(host=host, client_keys="k1").host == host
    assert Settings(host=host, client_keys_file=tmp_path / "keys").host == host
    with pytest.raises(ValidationError):
        Settings(host=host, admin_keys="k1")


def test_keys_are_read_and_never_shown(monkeypatch, tmp_path):
    file = tmp_path / "keys"
    file.write_text("\ufeff# who may\n\nlab=sk-file-secret\n  sk-plain-secret  \n")
    monkeypatch.setenv("ASCEND_GATEWAY_CLIENT_KEYS", "app=sk-env-secret,sk-other-secret")
    settings = Settings(client_keys_file=file, admin_keys=("root=sk-admin-secret",))
    assert settings.load_client_keys() == (
        ("app", "sk-env-secret"),
        ("client-2", "sk-other-secret"),
        ("lab", "sk-file-secret"),
        ("client-4", "sk-plain-secret"),
    )
    assert settings.load_admin_keys() == (("root", "sk-admin-secret"),)
    assert "secret" not in repr(settings)
    assert "secret" not in str(settings.model_dump())


def test_a_file_without_keys_opens_nothing(tmp_path):
    file = tmp_path / "keys"
    file.write_text("# nobody yet\n")
    with pytest.raises(ValueError, match="holds no keys"):
        Settings(client_keys_file=file).load_client_keys()
    with pytest.raises(FileNotFoundError):
        Settings(admin_keys_file=tmp_path / "nothing").load_admin_keys()


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        (["k"], [("client-1", "k")]),
        (["n=k"], [("n", "k")]),
        (["n=k=="], [("n", "k==")]),
        (["c2VjcmV0=="], [("client-1", "c2VjcmV0==")]),
        (["a/b=c"], [("client-1", "a/b=c")]),
    ],
)
def test_named_keys(lines, named):
    assert list(named_keys(lines, "client")) == named


@pytest.mark.parametrize(
    "lines", [["n=has blank"], ["schl\u00fcssel"], [""], ["k", "k"], ["a=k", "b=k"], ["a=1", "a=2"]]
)
def test_unusable_keys_are_refused_without_showing_them(lines):
    with pytest.raises(ValueError, match=r"client|name") as caught:
        named_keys(lines, "client")
    for line in lines:
        key = line.partition("=")[2]
        assert not key or key not in str(caught.value).replace("2 ", "").replace("1 ", "")


def test_an_error_never_shows_a_key():
    with pytest.raises(ValidationError) as caught:
        Settings(client_keys=("sk-secret-1", "sk-secret-1"))
    assert "sk-secret" not in str(caught.value)
    assert "sk-secret" not in repr(caught.value)
    with pytest.raises(ValidationError) as caught:
        Settings(client_keys="sk-secret-1", store_url="redis://:sk-secret@s", port=-1)
    assert "sk-secret" not in str(caught.value)
    settings = Settings(admin_keys="sk-secret-1", store_url="redis://:sk-secret@s")
    assert "sk-secret" not in f"{settings} {settings!r} {settings.model_dump_json()}"


def test_misspelt_variables():
    names = ["ASCEND_GATEWAY_PROT", "ascend_gateway_port", "ASCEND_GATEWAY_HOST", "PATH"]
    assert unknown_variables(names) == ("ASCEND_GATEWAY_PROT",)


@pytest.mark.parametrize(("given", "missing"), [("cert", "key"), ("key", "cert")])
def test_a_certificate_and_its_key_come_together(given, missing):
    with pytest.raises(ValidationError, match=f"--tls-{missing}-file or .*_FILE is missing"):
        Settings(**{f"tls_{given}_file": "/run/pem"})


STATE_PLACES = [
    ("/srv/s", {"STATE_DIRECTORY": "/var/lib/a", "HOME": "/home/x"}, "/srv/s"),
    (None, {"STATE_DIRECTORY": "/var/lib/a", "XDG_STATE_HOME": "/x"}, "/var/lib/a"),
    (None, {"STATE_DIRECTORY": "/var/lib/a:/var/lib/b"}, "/var/lib/a"),
    (None, {"STATE_DIRECTORY": "", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/ascend-gateway"),
    (None, {"XDG_STATE_HOME": "state", "HOME": "/h"}, "/h/.local/state/ascend-gateway"),
    (None, {"XDG_STATE_HOME": "", "HOME": "/h"}, "/h/.local/state/ascend-gateway"),
    (None, {"HOME": "/h"}, "/h/.local/state/ascend-gateway"),
    (None, {"HOME": ""}, None),
    (None, {}, None),
]


@pytest.mark.parametrize(("setting", "environ", "parent"), STATE_PLACES)
def test_where_state_lives(setting, environ, parent):
    settings = Settings(config_file="/etc/fleet/routes.yaml", state_dir=setting)
    folder = state_folder(settings, environ)
    # The first 8 digits of `printf /etc/fleet/routes.yaml | sha256sum`.
    assert folder == (None if parent is None else Path(parent, "routes-e16635a3"))
    assert state_folder(Settings(state_dir=setting), environ) is None


def test_each_routing_file_has_a_state_of_its_own(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "link").symlink_to("a")
    monkeypatch.chdir(tmp_path / "b")

    def place(file):
        return state_folder(Settings(config_file=file, state_dir="/s"), {})

    here = place(tmp_path / "a" / "routes.yaml")
    assert place(Path("../a/routes.yaml")) == here
    assert place(tmp_path / "b" / "routes.yaml") != here
    assert place(tmp_path / "a" / "routes.yml") != here
    through_link = place(tmp_path / "link" / "routes.yaml")
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("b")
    assert place(tmp_path / "link" / "routes.yaml") == through_link != here


def test_state_of_a_file_whose_name_is_not_utf_8():
    name = os.fsdecode(b"/etc/\xff.yaml")
    assert state_folder(Settings(config_file=name, state_dir="/s"), {}) is not None

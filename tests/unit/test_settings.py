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
    "host": ("[::1]", "::1"),
    "port": ("0", 0),
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
    "store_url": ("redis://:pw@s", SecretStr("redis://:pw@s")),
}


def test_every_setting_is_in_the_table():
    assert set(EVERY_VARIABLE) == set(Settings.model_fields)


@pytest.mark.parametrize("name", EVERY_VARIABLE)
def test_each_setting_has_its_variable(name, monkeypatch):
    written, value = EVERY_VARIABLE[name]
    assert getattr(Settings(), name) != value
    monkeypatch.setenv(f"{ENV_PREFIX}{name.upper()}", written)
    assert getattr(Settings(), name) == value


@pytest.mark.parametrize(
    "name",
    ["config_file", "client_keys", "client_keys_file", "admin_keys", "admin_keys_file",
     "cors_origins", "server_header", "store_url"],
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

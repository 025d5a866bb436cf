import click
import pytest
from click.testing import CliRunner

from gateway.cli.options import flag_of, holds_secret, read_settings, settings_options
from gateway.settings import ENV_PREFIX, Settings

SECRETS = {"client_keys", "admin_keys", "store_url"}


@click.command()
@settings_options
def command(**values: object) -> None:
    click.echo(read_settings(values).model_dump_json())


def run(*args: str, **env: str):
    return CliRunner().invoke(command, args, env=env)


def test_one_flag_for_each_setting_that_is_no_secret():
    fields = Settings.model_fields
    assert {name for name in fields if holds_secret(fields[name])} == SECRETS
    flags = {param.name: param.opts for param in command.params}
    assert flags == {name: [flag_of(name)] for name in fields if name not in SECRETS}
    assert "--drain-s FLOAT" in run("--help").output


def test_flags_win_over_variables():
    env = {f"{ENV_PREFIX}PORT": "9000", f"{ENV_PREFIX}DRAIN_S": "3"}
    output = run("--port", "9001", "--allow-open", "--host", "::", **env).output
    settings = Settings.model_validate_json(output)
    assert (settings.port, settings.drain_s, settings.host) == (9001, 3.0, "::")
    assert settings.allow_open is True


def test_switches_can_be_turned_off():
    output = run("--no-access-log", **{f"{ENV_PREFIX}ACCESS_LOG": "true"}).output
    assert Settings.model_validate_json(output).access_log is False


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--port", "99999"], "--port"),
        (["--host", "0.0.0.0"], "--allow-open"),
        (["--log-level", "loud"], "--log-level"),
        (["--drain-s", "-1"], "ASCEND_GATEWAY_DRAIN_S or --drain-s"),
        (["--client-keys", "k"], "No such option"),
    ],
)
def test_what_is_wrong_is_named(args, said):
    result = run(*args)
    assert result.exit_code == 2
    assert said in result.output


def test_a_misspelt_variable_is_told():
    result = run(**{f"{ENV_PREFIX}PROT": "1"})
    assert result.exit_code == 0
    assert f"{ENV_PREFIX}PROT is no setting" in result.stderr


def test_a_key_is_never_shown():
    result = run(**{f"{ENV_PREFIX}CLIENT_KEYS": "sk-secret,sk-secret"})
    assert result.exit_code == 2
    assert "sk-secret" not in result.output


def test_a_folder_is_asked_for_where_one_belongs(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    settings = Settings.model_validate_json(run("--state-dir", str(tmp_path)).output)
    assert settings.state_dir == tmp_path
    assert Settings.model_validate_json(run("--state-dir", f"{file}-new").output).state_dir
    assert run("--state-dir", str(file)).exit_code == 2
    assert run("--config-file", str(tmp_path)).exit_code == 2


def test_half_a_pair_for_https_is_refused(tmp_path):
    result = run("--tls-cert-file", str(tmp_path / "tls.crt"))
    assert result.exit_code == 2
    assert "--tls-key-file or ASCEND_GATEWAY_TLS_KEY_FILE is missing" in result.output

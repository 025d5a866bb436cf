"""The command `adopt`: files in, a routing file and findings out."""

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from gateway.cli.adopt import adopt
from gateway.config.load import load_text

SCRIPT = "vllm serve /models/Qwen3-8B --served-model-name q8 --port 8100 --max-num-seqs 8\n"
LOG = """INFO 09-04 05:25:02 [model.py:1547] Using max model len 40960
INFO 09-04 05:25:04 [platform.py:290] FULL_DECODE_ONLY compilation enabled on NPU
(EngineCore pid=160) INFO 09-04 05:27:41 [kv_cache_utils.py:1305] GPU KV cache size: 66,340 tokens
(APIServer pid=1) INFO:     Application startup complete.
"""


def run(*words: str | Path, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(adopt, [str(word) for word in words], input=stdin)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "serve.sh"
    file.write_text(SCRIPT)
    return file


def test_the_routing_file_goes_out_and_findings_beside_it(script: Path) -> None:
    result = run("script", script)
    assert result.exit_code == 0, result.stderr
    loaded = load_text(result.stdout, "r.yaml")
    assert loaded.config is not None
    assert [b.served_name for b in loaded.config.backends] == ["q8"]
    assert "[no_api_key]" in result.stderr
    assert result.stderr.rstrip().splitlines()[-1].startswith("1 backends; ")


def test_an_output_file_is_written_and_not_overwritten(script: Path, tmp_path: Path) -> None:
    out = tmp_path / "routing.yaml"
    assert run("script", script, "-o", out).exit_code == 0
    written = out.read_text()
    assert load_text(written, "r.yaml").config is not None
    out.write_text("mine")
    refused = run("script", script, "-o", out)
    assert (refused.exit_code, out.read_text()) == (2, "mine")
    assert "--force" in refused.stderr
    assert run("script", script, "-o", out, "--force").exit_code == 0
    assert out.read_text() == written


def test_json_has_all_in_one(script: Path) -> None:
    report = json.loads(run("script", script, "--format", "json", "--lang", "en").stdout)
    assert yaml.safe_load(report["routing_file"])["version"] == 1
    (backend,) = report["backends"]
    assert (backend["name"], backend["enabled"]) == ("q8", True)
    assert backend["sources"] == [f"{script}:1"]
    finding = next(f for f in report["findings"] if f["code"] == "no_api_key")
    assert (finding["severity"], finding["file"], finding["line"]) == ("trap", str(script), 1)


@pytest.mark.parametrize(("language", "word"), [("en", "trap: "), ("zh", "陷阱：")])
def test_both_languages(script: Path, language: str, word: str) -> None:
    result = run("script", script, "--lang", language)
    assert word in result.stderr
    assert load_text(result.stdout, "r.yaml").config is not None


@pytest.mark.parametrize(
    ("options", "status"),
    [([], 0), (["--strict"], 1)],
)
def test_strict_fails_on_traps(script: Path, options: list[str], status: int) -> None:
    assert run("script", script, *options).exit_code == status


def test_nothing_found(tmp_path: Path) -> None:
    file = tmp_path / "x.sh"
    file.write_text("echo hello\n")
    result = run("script", file)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "nothing_found" in result.stderr


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    result = run("script", tmp_path / "no.sh")
    assert result.exit_code == 2
    assert "no.sh: can't be read: No such file" in result.stderr


def test_a_folder_and_standard_input(script: Path) -> None:
    assert "q8" in run("script", script.parent).stdout
    assert "q8" in run("script", "-", stdin=SCRIPT).stdout


def test_text_in_gb18030(tmp_path: Path) -> None:
    file = tmp_path / "serve.sh"
    file.write_bytes(("# 启动模型\n" + SCRIPT.replace("q8", "通义")).encode("gb18030"))
    assert "通义" in run("script", file).stdout


def test_a_log_beside_a_script_is_merged(script: Path, tmp_path: Path) -> None:
    log = tmp_path / "q8.log"
    log.write_text(LOG)
    made = yaml.safe_load(run("script", script, "--log", log).stdout)
    assert made["backends"][0]["max_model_len"] == 40960


def test_a_log_alone_is_told(tmp_path: Path) -> None:
    log = tmp_path / "q8.log"
    log.write_text(LOG)
    told = run("log", log, "--lang", "en")
    assert told.exit_code == 0
    assert "it runs graphs (FULL_DECODE_ONLY)" in told.stdout
    assert "KV cache: 66,340 tokens" in told.stdout
    assert "max_model_len: 40960" in told.stdout
    (one,) = json.loads(run("log", log, "--format", "json").stdout)["logs"]
    assert (one["kv_tokens"], one["tier"]) == (66340, "graph")
    assert run("log", log, "--lang", "zh").stdout.count("KV 缓存") == 1


def test_what_is_no_log(script: Path) -> None:
    assert run("log", script).exit_code == 1


@pytest.mark.parametrize("address", ["http://h:9-1", "http://h:1-99999", "::"])
def test_a_bad_address_is_a_usage_error(address: str) -> None:
    result = run("probe", address)
    assert result.exit_code == 2
    assert address in result.stderr


def test_a_key_that_is_not_set_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_KEY", raising=False)
    result = run("probe", "http://127.0.0.1:1", "--api-key-env", "NO_KEY")
    assert result.exit_code == 2
    assert "NO_KEY" in result.stderr


def test_nobody_answers() -> None:
    result = run("probe", "http://127.0.0.1:1", "--lang", "en")
    assert result.exit_code == 1
    assert "account_failed" in result.stderr


def test_the_file_of_an_engines_config_is_taken_if_it_is_given(tmp_path: Path) -> None:
    script, config = tmp_path / "serve.sh", tmp_path / "engine.yaml"
    script.write_text("vllm serve /models/Qwen3-8B --config /etc/vllm/engine.yaml --port 8100\n")
    config.write_text("served-model-name: q8\nmax-num-seqs: 8\nport: 9\n")
    result = run("script", script, config)
    assert "nothing_found" not in result.stderr
    (backend,) = yaml.safe_load(result.stdout)["backends"]
    assert (backend["served_name"], backend["max_num_seqs"]) == ("q8", 8)
    assert backend["url"] == "http://127.0.0.1:8100"

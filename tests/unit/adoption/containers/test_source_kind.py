import pytest

from gateway.adoption.containers.source_kind import Kind, kind_of

LOG = "INFO 06-14 10:02:11 [model.py:1547] Using max model len 53248\n"


@pytest.mark.parametrize(
    ("text", "file", "kind"),
    [
        ("#!/bin/bash\nvllm serve /m", "a", Kind.SHELL),
        ("vllm serve /m", "a", Kind.SHELL),
        ("#!/bin/sh\ncat <<E\nservices: {}\nE", "a.yaml", Kind.SHELL),
        ("cat <<E | kubectl apply -f -\napiVersion: v1\nE", "a", Kind.SHELL),
        ("", "a", Kind.SHELL),
        ("services:\n  a: {image: x}", "a", Kind.YAML),
        ("# comment\n\nversion: '3'\nservices: {}", "a", Kind.YAML),
        ("---\nkind: Pod", "a", Kind.YAML),
        ("apiVersion: v1", "a.txt", Kind.YAML),
        ("x-a: &a {}\nservices: {}", "a", Kind.YAML),
        ("{{- if .Values.x }}\nkind: Pod", "a", Kind.YAML),
        ("web:\n  image: x", "docker-compose.yml", Kind.YAML),
        ("web:\n  image: x", "a", Kind.SHELL),
        ('{"kind": "List"}', "a", Kind.JSON),
        ('\n [{"Config": {}}]', "a.log", Kind.JSON),
        ("{ vllm serve /m; }", "a", Kind.SHELL),
        ("[Unit]\nDescription=x\n[Service]\n", "a", Kind.UNIT),
        ("# comment\n; more\n[Container]\nImage=x", "a", Kind.UNIT),
        ("[Other]\nA=b", "a", Kind.SHELL),
        ("FROM a\nCMD b", "a", Kind.DOCKERFILE),
        ("ARG x\n\nFROM a", "Dockerfile", Kind.DOCKERFILE),
        (LOG, "a", Kind.LOG),
        ("text\n```bash\nx\n```\n", "a", Kind.MARKDOWN),
        ("no fences", "README.md", Kind.MARKDOWN),
        (f"```\n{LOG}```\n", "README.md", Kind.MARKDOWN),
        ("cat <<E\n```\nx\n```\nE", "a.sh", Kind.SHELL),
        ("UID PID PPID C STIME TTY TIME CMD\nroot 1 0 0 x ? 00:00:01 init", "a", Kind.PROCESSES),
        ("PATH: x", "a.yml", Kind.YAML),
    ],
)
def test_kinds(text: str, file: str, kind: Kind) -> None:
    assert kind_of(text, file) is kind

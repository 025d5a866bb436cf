"""The configuration of nginx as a plain balancer: it streams, keeps connections, reads no JSON."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

_METHODS: Final = {"round_robin": "", "least_conn": "least_conn;"}

_TEMPLATE: Final = """\
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  client_max_body_size 64m;
  client_body_buffer_size 1m;
  tcp_nodelay on;
  upstream backends {{
    {method}
    {servers}
    keepalive 256;
  }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      proxy_pass http://backends;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 3600s;
    }}
  }}
}}
"""


def configuration(policy: str, port: int, addresses: Sequence[str], folder: Path) -> str:
    """The file for one policy, `round_robin` or `least_conn`; it writes below `folder` only."""
    # One refused connection must not take a backend out for ten seconds: that is 150 of an engine.
    servers = "\n    ".join(f"server {address} max_fails=0;" for address in addresses)
    return _TEMPLATE.format(folder=folder, method=_METHODS[policy], servers=servers, port=port)

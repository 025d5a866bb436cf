#!/usr/bin/env bash
# Runs real vLLM servers on the CPU with a tiny model, to test the gateway against.
#
#   start_real_vllm.sh [start] [NAME=PORT ...] [-- VLLM_ARGS ...]
#   start_real_vllm.sh stop | status | setup
#
# Default instances: qwen3.5-9b=12322 qwen3.5-27b=12320. A NAME may be a comma-separated list of
# names that one server answers to. What follows -- goes to every server.
#
# Settings (environment):
#   REAL_VLLM_VENV         where vLLM and the model are kept (default: realvllm in the user's cache)
#   REAL_VLLM_STATE        logs and process ids of this run (default: realvllm in TMPDIR)
#   REAL_VLLM_HOST         address to listen on (127.0.0.1)
#   REAL_VLLM_KV_BLOCKS    KV blocks of 128 tokens each (256)
#   REAL_VLLM_WAIT         seconds to wait for a server to become healthy (240)
#   REAL_VLLM_TORCH_INDEX  where torch's CPU wheel is looked for if pip's own sources lack it
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=${REAL_VLLM_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/realvllm}
state=${REAL_VLLM_STATE:-${TMPDIR:-/tmp}/realvllm}
host=${REAL_VLLM_HOST:-127.0.0.1}
blocks=${REAL_VLLM_KV_BLOCKS:-256}
wait_s=${REAL_VLLM_WAIT:-240}
torch_index=${REAL_VLLM_TORCH_INDEX:-https://download.pytorch.org/whl/cpu}
models=$venv/models
model=tiny-qwen3

say() { printf '%s\n' "$*" >&2; }

find_python() { # the locked torch wheel is built for Python 3.11
  local candidate
  for candidate in "${PYTHON:-}" python3.11 python3; do
    [ -n "$candidate" ] || continue
    if "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' >/dev/null 2>&1; then
      echo "$candidate"
      return
    fi
  done
  say "Real vLLM needs Python 3.11, since the locked torch wheel is built for it: set PYTHON to one."
  exit 1
}

install() {
  local python pip torch
  [ "$(uname -sm)" = "Linux x86_64" ] ||
    { say "Real vLLM is locked for Linux on x86_64; this is $(uname -sm)."; exit 1; }
  python=$(find_python)
  say "installing vLLM for the CPU into $venv (about 2 GB, some minutes)"
  "$python" -m venv --clear "$venv"
  pip="$venv/bin/pip --disable-pip-version-check install -qq --no-deps"
  torch=$(grep '^torch==' "$here/requirements.lock")
  # PyPI's torch wants CUDA. pip's configured sources (find-links, mirrors) come first, so that a
  # machine without a way out can bring its own wheel.
  $pip "$torch" 2>/dev/null || $pip --extra-index-url "$torch_index" "$torch" || {
    say "No CPU build of torch ($torch) in pip's sources nor in $torch_index."
    say "Put its wheel into a folder and name it: PIP_FIND_LINKS=/that/folder"
    exit 1
  }
  # No resolver: the lock leaves out torchvision, torchaudio, torchcodec and triton on purpose.
  # Their PyPI builds want CUDA, and transformers fails on the first of them.
  $pip -r "$here/requirements.lock"
  touch "$venv/.ready"
  say "installed after $SECONDS s"
}

setup() {
  mkdir -p "$state"
  [ -e "$venv/.ready" ] || install
  if [ ! -e "$models/$model/config.json" ]; then
    say "making the tiny model"
    mkdir -p "$models"
    rm -rf "$models/$model.part"
    "$venv/bin/python" "$here/make_tiny_model.py" "$models/$model.part" >"$state/model.log" 2>&1 ||
      { tail -5 "$state/model.log" >&2; exit 1; }
    mv "$models/$model.part" "$models/$model"
  fi
}

alive() { [ -e "$state/$1.pid" ] && kill -0 "$(cat "$state/$1.pid")" 2>/dev/null; }

healthy() {
  [ "$(curl --noproxy '*' -s -m 2 -o /dev/null -w '%{http_code}' "http://$host:$1/health")" = 200 ]
}

launch() { # NAMES PORT ARGS...
  local names=$1 port=$2
  shift 2
  if alive "$port"; then say "$port: already running"; return; fi
  if healthy "$port"; then say "$port: some other server answers there"; exit 1; fi
  # float32, because bfloat16 selects AMX kernels, which die with SIGILL on virtual machines that
  # show AMX but do not let it be used. setsid gives a group to kill. The module instead of
  # `vllm serve`, which asks for the metadata of a package that the CPU build does not have.
  (
    cd "$models"
    export VLLM_CPU_KVCACHE_SPACE=1 VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1
    export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1
    # shellcheck disable=SC2086
    exec setsid "$venv/bin/python" -m vllm.entrypoints.openai.api_server --model "$model" \
      --served-model-name ${names//,/ } --host "$host" --port "$port" \
      --dtype float32 --enforce-eager --max-model-len 4096 --num-gpu-blocks-override "$blocks" \
      --enable-auto-tool-choice --tool-call-parser hermes "$@" >"$state/$port.log" 2>&1 </dev/null
  ) &
  echo $! >"$state/$port.pid"
}

await() { # PORT START
  local deadline=$(($2 + wait_s))
  until healthy "$1"; do
    if ! alive "$1"; then
      say "$1: died while starting; end of $state/$1.log:"
      tail -15 "$state/$1.log" >&2
      exit 1
    fi
    if [ $SECONDS -ge $deadline ]; then
      say "$1: not healthy after $wait_s s, see $state/$1.log"
      exit 1
    fi
    sleep 0.5
  done
  say "$1: ready $((SECONDS - $2)) s after its launch, pid $(cat "$state/$1.pid")"
}

stop() {
  local f pid
  for f in "$state"/*.pid; do
    [ -e "$f" ] || continue
    pid=$(cat "$f")
    kill -TERM "$pid" 2>/dev/null || true
    for _ in $(seq 20); do kill -0 "$pid" 2>/dev/null || break; sleep 0.5; done
    # A server with an open client connection may never exit by itself.
    kill -KILL -- "-$pid" 2>/dev/null || true
    rm -f "$f"
  done
}

command=start
case ${1:-} in start | stop | status | setup) command=$1; shift ;; esac
instances=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do instances+=("$1"); shift; done
[ "${1:-}" = -- ] && shift
[ ${#instances[@]} -gt 0 ] || instances=(qwen3.5-9b=12322 qwen3.5-27b=12320)

case $command in
  setup) setup ;;
  stop) stop ;;
  status)
    for f in "$state"/*.pid; do
      [ -e "$f" ] || continue
      port=$(basename "$f" .pid)
      alive "$port" && a=alive || a=gone
      healthy "$port" && h=healthy || h="not healthy"
      echo "$port: pid $(cat "$f") $a, $h"
    done ;;
  start)
    setup
    launched=$SECONDS
    for i in "${instances[@]}"; do launch "${i%=*}" "${i##*=}" "$@"; done
    for i in "${instances[@]}"; do await "${i##*=}" "$launched"; done ;;
esac

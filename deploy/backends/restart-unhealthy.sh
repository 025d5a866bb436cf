#!/usr/bin/env bash
# Restarts engines that make no tokens. docker only notes that a container is unhealthy
# (one_token.py, three times in a row); this acts on it. Run by systemd/vllm-watchdog.timer.
#
# Touches only containers with the label ascend-gateway.supervisor, which engine.sh and the Compose
# files set. A restarted engine has 30 minutes to come up before it can count as unhealthy again.
set -euo pipefail

evidence=${VLLM_EVIDENCE:-/var/log/vllm}
keep=20

mkdir -p "$evidence"
docker ps --filter health=unhealthy --filter label=ascend-gateway.supervisor \
  --format '{{.Names}} {{.Label "ascend-gateway.supervisor"}}' |
  while read -r name supervisor; do
    # What a hung engine said last is gone with its container.
    file=$evidence/$name-hung-$(date +%Y%m%dT%H%M%S).log
    {
      docker inspect --format '{{json .State.Health}}' "$name" || true
      docker logs --tail 500 "$name" 2>&1 || true
    } </dev/null >"$file"
    echo "$name makes no tokens; its last lines are in $file; restarting it ($supervisor)"
    # A hung engine finishes nothing, so it is given no time.
    if [[ $supervisor == systemd ]]; then
      # `docker run` of vllm@NAME ends with it, and systemd starts it again.
      docker kill "$name" </dev/null
    else
      # Not `docker kill`: docker takes that for a stop by hand, and leaves it stopped.
      docker restart --time 5 "$name" </dev/null
    fi || echo "$name could not be restarted" >&2
  done

# Only the newest files stay.
find "$evidence" -name '*-hung-*.log' -printf '%T@ %p\n' | sort -rn | tail -n "+$((keep + 1))" |
  cut -d' ' -f2- | xargs -r -d '\n' rm -f --

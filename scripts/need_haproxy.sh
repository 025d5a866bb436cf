#!/bin/sh
# Sees to it that haproxy is there for `make replicas`: installs Debian's package as root, or says how.
set -eu
command -v haproxy >/dev/null 2>&1 && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "installing haproxy for the measurement"
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y -qq --no-install-recommends haproxy >/dev/null 2>&1 ||
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends haproxy >/dev/null; }
  exit 0
fi
echo "rolling restarts are measured behind haproxy, and there is none" >&2
echo "Debian, Ubuntu: apt-get install haproxy; openEuler, Kylin: dnf install haproxy" >&2
exit 1

#!/bin/sh
# Sees to it that redis-server is there for the tests: installs Debian's package as root, or says how.
set -eu
command -v redis-server >/dev/null 2>&1 && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "installing redis-server for the tests"
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y -qq --no-install-recommends redis-server >/dev/null 2>&1 ||
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends redis-server >/dev/null; }
  exit 0
fi
echo "the tests start a redis-server of their own, and there is none" >&2
echo "Debian, Ubuntu: apt-get install redis-server; openEuler, Kylin: dnf install redis" >&2
exit 1

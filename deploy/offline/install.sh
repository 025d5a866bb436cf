#!/bin/sh
# Installs the gateway from the unpacked offline archive, without any network.
#   sudo sh install.sh                    /opt/ascend-gateway, user, keys, systemd units
#   sh install.sh --prefix DIR --no-unit  the program only, as any user
# --python PYTHON picks an interpreter. --root DIR puts the files of /etc under DIR (for packagers).
# Run again with a newer archive to upgrade: the old version stays beside it, settings stay as they
# are, and running gateways go on until they are restarted.
set -eu

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

prefix=/opt/ascend-gateway
root=
unit=yes
python=${PYTHON:-}
while [ $# -gt 0 ]; do
  case $1 in
    --prefix | --root | --python)
      [ $# -gt 1 ] || fail "$1 needs a value"
      case $1 in
        --prefix) prefix=${2%/} ;;
        --root) root=${2%/} ;;
        --python) python=$2 ;;
      esac
      shift 2
      ;;
    --no-unit)
      unit=no
      shift
      ;;
    -h | --help)
      sed -n '2,7s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *) fail "unknown option $1; see --help" ;;
  esac
done
case $prefix in
  /*) ;;
  *) fail "--prefix must begin with /" ;;
esac

here=$(cd "$(dirname "$0")" && pwd)
[ -f "$here/SHA256SUMS" ] || fail "run it from the unpacked archive; SHA256SUMS is not beside it"
version=$(cat "$here/VERSION")
pythons=$(cat "$here/PYTHONS")

(cd "$here" && sha256sum --quiet --strict -c SHA256SUMS) ||
  fail "files differ from SHA256SUMS: copy and unpack the archive again"

find_python() {
  for number in $pythons; do
    numbers=" $number$numbers"
  done
  for candidate in "$python" $numbers; do
    [ -n "$candidate" ] || continue
    case $candidate in
      [0-9]*) candidate=python$candidate ;;
    esac
    found=$("$candidate" -c 'import sys, venv; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) ||
      continue
    case " $pythons " in
      *" $found "*)
        echo "$candidate"
        return
        ;;
    esac
  done
  return 1
}
numbers=" python3"
python=$(find_python) ||
  fail "no Python of these versions was found: $pythons; install one (openEuler 24.03: dnf install python3) or name it with --python"

# Each version has a folder, and a link names the one in use: going back is one command.
target=$prefix-$version
if [ -e "$prefix" ] && [ ! -L "$prefix" ]; then
  fail "$prefix is a folder, not a link of this installer: move it away first"
fi
mkdir -p "$(dirname "$target")"
new=$target.new.$$
trap 'rm -rf "$new"' EXIT
trap 'exit 1' HUP INT TERM
echo "installing ascend-gateway $version with $($python --version) into $target"
rm -rf "$target.old"
# Scripts in an environment name its path, so it is made where it stays.
if [ -e "$target" ]; then
  mv "$target" "$target.old"
fi
pip_wheel=$(find "$here/wheels" -name 'pip-*.whl' | head -n 1)
install_into_target() {
  "$python" -m venv --without-pip "$target" &&
    "$target/bin/python" "$pip_wheel/pip" install --quiet --disable-pip-version-check \
      --no-index --find-links "$here/wheels" --only-binary=:all: --no-cache-dir \
      --requirement "$here/requirements.lock" "ascend-gateway==$version" &&
    "$target/bin/ascend-gateway" --version
}
if ! PIP_CONFIG_FILE=/dev/null install_into_target; then
  rm -rf "$target"
  [ ! -e "$target.old" ] || mv "$target.old" "$target"
  fail "the installation failed; nothing was changed"
fi
rm -rf "$target.old"
ln -s "$target" "$new"
mv -T "$new" "$prefix"

if [ "$unit" = no ]; then
  echo "done: $prefix/bin/ascend-gateway"
  exit 0
fi

etc=$root/etc/ascend-gateway
units=$root/etc/systemd/system
if [ -z "$root" ]; then
  [ "$(id -u)" = 0 ] || fail "the program is installed; for user and units run as root, or say --no-unit"
  getent passwd ascend-gateway >/dev/null ||
    useradd --system --user-group --no-create-home --home-dir /var/lib/ascend-gateway \
      --shell /sbin/nologin ascend-gateway
fi
mkdir -p "$etc" "$units"
for file in "$here"/systemd/*.service; do
  sed "s|/opt/ascend-gateway/bin/|$prefix/bin/|" "$file" > "$units/$(basename "$file")"
done
chmod 644 "$units"/ascend-gateway*.service

# What an operator may have changed is never written over.
umask 077
[ -e "$etc/ascend-gateway.env" ] || cp "$here/systemd/ascend-gateway.env" "$etc/"
[ -e "$etc/routing.yaml" ] || cp "$here/config/two-containers.yaml" "$etc/routing.yaml"
cp "$here/config/routing.schema.json" "$etc/"
for kind in client admin; do
  [ -e "$etc/$kind-keys" ] ||
    "$python" -c "import secrets; print('$kind-1=' + secrets.token_urlsafe(32))" > "$etc/$kind-keys"
done
chmod 640 "$etc/client-keys" "$etc/admin-keys" "$etc/routing.yaml" "$etc/routing.schema.json"
chmod 750 "$etc"
if [ -z "$root" ]; then
  chgrp -R ascend-gateway "$etc"
  systemctl daemon-reload 2>/dev/null || echo "systemd does not run here; units are in $units"
fi
cat <<NEXT
done: $prefix/bin/ascend-gateway
next:
  1. describe your servers in $etc/routing.yaml, and check it:
     $prefix/bin/ascend-gateway config check $etc/routing.yaml --probe
  2. systemctl enable --now ascend-gateway
  3. the first client key is in $etc/client-keys
NEXT

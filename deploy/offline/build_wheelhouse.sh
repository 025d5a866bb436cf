#!/bin/sh
# Packs everything that a host without internet needs to run the gateway into one archive.
# Run on a connected machine with Python >= 3.11, of any architecture:
#   sh deploy/offline/build_wheelhouse.sh [FOLDER]       (default: dist)
# Other Pythons or machines: PYTHONS="3.11 3.12 3.13" MACHINES=aarch64 sh ...
# pip takes its index and mirror from the usual places (PIP_INDEX_URL, pip.conf).
set -eu

PYTHONS=${PYTHONS:-3.11 3.12}
MACHINES=${MACHINES:-x86_64 aarch64}
# glibc 2.28 is what openEuler 20.03 and Kylin V10 have; wheels for newer ones would not start there.
GLIBC_TAGS="manylinux_2_28 manylinux_2_27 manylinux_2_26 manylinux_2_24 manylinux_2_17 \
manylinux2014 manylinux_2_12 manylinux2010 manylinux_2_5 manylinux1"

top=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$top/dist}
python=$(sh "$top/scripts/find_python.sh")
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$top/pyproject.toml")
name=ascend-gateway-$version-offline
bundle=$work/$name
mkdir -p "$bundle/wheels" "$bundle/systemd" "$bundle/config"

echo "building the wheel of ascend-gateway $version"
"$python" -m venv "$work/tools"
pip="$work/tools/bin/python -m pip --disable-pip-version-check"
$pip install --quiet --only-binary=:all: --constraint "$top/requirements-dev.lock" hatchling
# A copy, since a build leaves traces beside its source.
mkdir "$work/source"
for part in gateway pyproject.toml README.md LICENSE; do
  cp -R "$top/$part" "$work/source/"
done
$pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$bundle/wheels" "$work/source"

# pip reads markers for the Python that runs it, not for the one that is asked for: without them
# every package gets in, and the host takes what its own Python needs.
sed 's/;.*//' "$top/requirements.lock" > "$work/all.lock"
for machine in $MACHINES; do
  platforms=
  for tag in $GLIBC_TAGS; do
    platforms="$platforms --platform ${tag}_$machine"
  done
  for wanted in $PYTHONS; do
    echo "fetching wheels for Python $wanted on $machine"
    # shellcheck disable=SC2086 # each word is an argument
    $pip download --quiet --no-deps --only-binary=:all: --implementation cp \
      --python-version "$wanted" $platforms --dest "$bundle/wheels" \
      --requirement "$work/all.lock"
  done
done
# pip runs from its own wheel on the host: Debian and others leave ensurepip out.
$pip download --quiet --no-deps --only-binary=:all: --dest "$bundle/wheels" pip

cp "$top/requirements.lock" "$top/LICENSE" "$bundle/"
cp "$top/deploy/offline/install.sh" "$bundle/"
cp "$top"/deploy/systemd/* "$bundle/systemd/"
cp "$top/config/two-containers.yaml" "$top/config/routing.schema.json" "$bundle/config/"
echo "$version" > "$bundle/VERSION"
echo "$PYTHONS" > "$bundle/PYTHONS"
(cd "$bundle" && find . -type f | LC_ALL=C sort | xargs sha256sum) > "$work/SHA256SUMS"
mv "$work/SHA256SUMS" "$bundle/"

tar --sort=name --owner=0 --group=0 --numeric-owner -C "$work" -czf "$out/$name.tar.gz" "$name"
(cd "$out" && sha256sum "$name.tar.gz" > "$name.tar.gz.sha256")
echo "written: $out/$name.tar.gz ($(du -h "$out/$name.tar.gz" | cut -f1)) and its .sha256"
echo "on the host: tar xzf $name.tar.gz && sudo sh $name/install.sh"

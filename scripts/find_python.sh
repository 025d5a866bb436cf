#!/bin/sh
# Prints the first Python >= 3.11 that runs: $PYTHON, then python3.13 to 3.11, then python3.
# A name on the PATH is not enough: version managers leave shims there that only print an error.
for candidate in "${PYTHON:-}" python3.13 python3.12 python3.11 python3 python; do
  [ -n "$candidate" ] || continue
  if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
    echo "$candidate"
    exit 0
  fi
done
if [ -n "${PYTHON:-}" ]; then
  echo "PYTHON=$PYTHON does not run, or is older than 3.11, and no other Python >= 3.11 was found." >&2
else
  echo "No Python >= 3.11 was found on the PATH." >&2
fi
echo "Install one, or name it: make PYTHON=/path/to/python3.12 ..." >&2
exit 1

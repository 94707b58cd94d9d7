#!/usr/bin/env bash
# Fails if a generated file is not what its generator makes now. Works on a copy: the tree stays as it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

# The tools come from here, so that the copy builds none.
tar --create --exclude=./.git --exclude=./bin --exclude=./.cache . | tar --extract --directory="$copy"
make --no-print-directory --silent --directory="$copy" BIN="$PWD/bin" generate manifests

stale=0
for path in api config/crd config/rbac; do
	diff --recursive --unified "$path" "$copy/$path" || stale=1
done
if ((stale)); then
	echo "generated files are stale: run 'make generate manifests' and commit the result" >&2
fi
exit "$stale"

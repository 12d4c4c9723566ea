#!/usr/bin/env bash
# Builds a pinned tool from a module of its own and prints the path of the binary.
#
#   hack/tool.sh MODULE_DIR PACKAGE NAME
#
# The binary is kept outside the tree, by the hash of the module's go.sum, so a
# second call is instant. Two calls at once are safe: each builds to a name of
# its own and renames.
set -euo pipefail

dir=$1 package=$2 name=$3
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${LOCKSTEP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lockstep}
key=$(cat "$root/$dir/go.mod" "$root/$dir/go.sum" | sha256sum | cut -c1-16)
bin=$cache/tools/$key/$name

if [ ! -x "$bin" ]; then
	mkdir -p "$(dirname "$bin")"
	echo "building $name ($package)" >&2
	(cd "$root/$dir" && go build -trimpath -ldflags "-s -w" -o "$bin.$$" "$package") >&2
	mv "$bin.$$" "$bin"
fi
echo "$bin"

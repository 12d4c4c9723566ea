#!/usr/bin/env bash
# Runs every fuzz target of the module for the given time each.
set -euo pipefail
time=${1:-30s}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
git ls-files '*_test.go' | xargs grep -Ho '^func Fuzz[A-Za-z0-9_]*' | sed 's/:func /:/' | while IFS=: read -r file target; do
	echo "== $target in $(dirname "$file")"
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "./$(dirname "$file")"
done

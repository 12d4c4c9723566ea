#!/usr/bin/env bash
# Regenerates what is generated and fails on any difference; then checks
# formatting, modules, lint, citations and links.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail=0
say() { printf '== %s\n' "$*"; }

say generate
before=$(git status --porcelain)
make --no-print-directory generate
say modules
for mod in $(git ls-files | grep 'go\.mod$'); do
	(cd "$(dirname "$mod")" && go mod tidy -diff >/dev/null) || { echo "$mod: run 'go mod tidy' in $(dirname "$mod")"; fail=1; }
done
after=$(git status --porcelain)
if [ "$before" != "$after" ]; then
	echo "generated files differ from what is committed; run 'make generate' and commit:"
	git --no-pager diff --stat
	git status --porcelain
	fail=1
fi

say format
unformatted=$(git ls-files '*.go' | xargs gofmt -l)
[ -z "$unformatted" ] || { echo "not formatted (make fmt): $unformatted"; fail=1; }

say headers and sizes
hack/check-sources.sh || fail=1
say citations and links
hack/check-docs.sh || fail=1
say lint
make --no-print-directory lint || fail=1

[ "$fail" = 0 ] && say "verify passed"
exit "$fail"

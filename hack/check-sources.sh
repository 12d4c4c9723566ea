#!/usr/bin/env bash
# Every Go file has its header and stays under 500 lines.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fail=0
while read -r f; do
	case "$f" in *zz_generated*) continue ;; esac
	head -3 "$f" | grep -q 'SPDX-License-Identifier: Apache-2.0' || { echo "$f: the licence header is missing"; fail=1; }
	n=$(wc -l <"$f")
	[ "$n" -le 500 ] || { echo "$f: $n lines; split it by duty (at most 500)"; fail=1; }
done < <(git ls-files '*.go')
exit "$fail"

#!/usr/bin/env bash
# Measures Lockstep and writes docs/benchmarks.md; see test/bench. Arguments are
# passed on, for instance: hack/bench.sh -versions 5.5.0 -topics 1000
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec go run ./test/bench "$@"

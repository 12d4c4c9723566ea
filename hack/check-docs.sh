#!/usr/bin/env bash
# The project stands alone: each rule (R02, K11), case (Q04) and section of
# rocketmq.md or rocketmq-live.md that code, tests or docs cite is in docs/,
# and each relative link in a document leads to a file and a heading.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec python3 hack/check_docs.py

#!/usr/bin/env bash
# Copyright The Lockstep Authors.
# SPDX-License-Identifier: Apache-2.0
#
# hack/soak.sh [FLAGS] builds what is missing and soaks: queues of topics are
# changed at random while the operator, servers and clients are killed, stopped
# and hung, and every message is counted at the end. docs/soak.md says more.
#
#   SOAK           how long faults and resizes go on, default 10m; 2h for a night
#   SOAK_SEED      seed of every choice, as an earlier run printed it
#   SOAK_VERSION   RocketMQ version, default 5.5.0
#   SOAK_DIR       folder of the run, default .soak/VERSION; emptied first
#
# Flags are those of test/soak (go run ./test/soak -help).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset KUBECONFIG
version=${SOAK_VERSION:-5.5.0}
dir=${SOAK_DIR:-$PWD/.soak/$version}
kinds=("classic-$version" go)
[[ $version == 4.* ]] || kinds+=(grpc)

mkdir -p "$PWD/.soak/bin"
exec 9>"$PWD/.soak/lock"
flock -n 9 || { echo "Another soak is being built or run in this repository." >&2; exit 1; }
echo "building what is missing (the first time takes about ten minutes on two cores)"
KUBEBUILDER_ASSETS=$(hack/control-plane.sh | tail -n 1)
export KUBEBUILDER_ASSETS
hack/rocketmq.sh "$version" >/dev/null
hack/clients.sh "${kinds[@]}" >/dev/null
go build -o .soak/bin/ ./cmd/manager ./test/soak
rm -rf "$dir"
exec .soak/bin/soak -dir "$dir" -manager "$PWD/.soak/bin/manager" -version "$version" \
  -duration "${SOAK:-10m}" -seed "${SOAK_SEED:-0}" "$@"

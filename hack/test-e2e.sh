#!/usr/bin/env bash
# Copyright The Lockstep Authors.
# SPDX-License-Identifier: Apache-2.0
#
# hack/test-e2e.sh [GO TEST FLAGS] runs every test that needs real servers, one
# package after another: the rig itself, the wire and the imitation against
# released RocketMQ servers, and Lockstep end to end. What is missing is built
# first; a JDK and Maven are installed where the package manager may.
#
#   LOCKSTEP_E2E_VERSIONS   RocketMQ versions, default "4.9.7 5.3.3 5.5.0"
#   LOCKSTEP_E2E_PACKAGES   packages instead of all, for instance ./test/e2e
#
# Each package's closing lines are shown again at the end.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LOCKSTEP_E2E_VERSIONS=${LOCKSTEP_E2E_VERSIONS:-4.9.7 5.3.3 5.5.0}
read -ra versions <<<"$LOCKSTEP_E2E_VERSIONS"
packages=(
  ./test/rig/process
  ./test/rig/assets
  ./test/rig/controlplane
  ./test/rig/nodeagent
  ./test/rig/rocketmq
  ./test/rig/world
  ./test/rig/cmd/controlplane
  ./test/rig/cmd/nodeagent
  ./test/rig/cmd/rocketmq
  ./test/ledger
  ./internal/allocation
  ./internal/rocketmq
  ./internal/brokertest/contract
  ./test/e2e
)
if [[ -n ${LOCKSTEP_E2E_PACKAGES:-} ]]; then read -ra packages <<<"$LOCKSTEP_E2E_PACKAGES"; fi

KUBEBUILDER_ASSETS=$(hack/control-plane.sh | tail -n 1)
export KUBEBUILDER_ASSETS
hack/rocketmq.sh "${versions[@]}" >/dev/null
kinds=(go grpc)
for version in "${versions[@]}"; do kinds+=("classic-$version"); done
hack/clients.sh "${kinds[@]}" >/dev/null

# run PACKAGE FLAGS...: -v, so that a run that hangs shows where. The cases of one
# world wait for servers much more than they compute, hence -parallel.
closing=()
failed=0
for package in "${packages[@]}"; do
  began=$SECONDS
  log=$(mktemp)
  echo "== $package"
  if go test -tags e2e -count=1 -timeout 45m -parallel 48 -v "$@" "$package" 2>&1 | tee "$log" |
    grep -E --line-buffered '^(=== RUN|\s*--- |ok|FAIL|PASS|panic)|: up after'; then
    status=0
  else
    status=1
  fi
  if [[ $status != 0 ]] || grep -q '^FAIL' "$log"; then
    failed=1
    echo "-- $package failed; what it said:"
    grep -vE '^\s*(=== (RUN|PAUSE|CONT|NAME)|--- PASS)' "$log" | tail -n 3000
  fi
  closing+=("$(grep -E '^(ok|FAIL|\?)[[:space:]]' "$log" | tail -n 1)  ($((SECONDS - began)) s with the build)")
  rm -f "$log"
done
echo
echo "== closing lines of the end-to-end tests (RocketMQ $LOCKSTEP_E2E_VERSIONS)"
printf '%s\n' "${closing[@]}"
exit "$failed"

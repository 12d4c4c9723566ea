#!/usr/bin/env bash
# Copyright The Lockstep Authors.
# SPDX-License-Identifier: Apache-2.0
#
# hack/demo.sh run|up|down [--kubeconfig FILE]
#
#   run    build what is missing, start everything on this machine, tell the
#          story, end everything; status 0 only when no message was lost
#   up     start everything and leave it running
#   down   end what up started, and nothing else
#
# --kubeconfig uses an existing cluster: the operator and the clients are then
# local processes. The environment variable KUBECONFIG is not looked at, so that
# nobody's cluster is used by mistake. State and logs are in .demo/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
state=$root/.demo
version=5.5.0
unset KUBECONFIG

say() { printf '%s\n' "$*"; }
die() { say "$*" >&2; exit 1; }

what=${1:-}
shift || true
kubeconfig=
while (($#)); do
  case $1 in
    --kubeconfig)
      [[ -r ${2:-} ]] || die "hack/demo.sh: the kubeconfig \"${2:-}\" cannot be read"
      kubeconfig=$(readlink -f "$2")
      shift 2
      ;;
    *) die "hack/demo.sh: unknown argument \"$1\"" ;;
  esac
done

# part TITLE TRY COMMAND... builds one part: what the command says is shown while
# it works and kept, what it prints is kept for the next.
part() {
  local title=$1 try=$2 began=$SECONDS log
  shift 2
  log=$state/build-${title//[^a-z0-9]/-}.log
  say " ▸ $title"
  if ! "$@" 2> >(tee "$log" | sed 's/^/     /') >"$log.out"; then
    wait
    say " ✘ $title failed; the last lines of $log:"
    tail -n 15 "$log" | sed 's/^/     /'
    die "   what to try: $try"
  fi
  say " ✔ $title  $((SECONDS - began)) s"
}

needs() {
  say "What it needs: Linux, Go 1.26 or newer, git, flock, 6 GB of free memory, 10 GB of disk for the first build;"
  say "a JDK (17) and Maven, which are installed by apt-get when they are missing and that is allowed."
  [[ $(uname -s) == Linux ]] || die "The demo runs on Linux only: it uses process groups and 127.0.0.0/8 as Linux has them."
  for tool in go git flock; do
    command -v "$tool" >/dev/null || die "$tool is missing: install it and try again"
  done
  local minor
  minor=$(go env GOVERSION | sed -n 's/^go1\.\([0-9]*\).*/\1/p')
  [[ ${minor:-0} -ge 26 ]] || die "$(go env GOVERSION) is too old: install Go 1.26 or newer from https://go.dev/dl"
}

build() {
  mkdir -p "$state/bin"
  say
  say "Building what is missing (the first time takes about ten minutes on two cores)"
  if [[ -z $kubeconfig ]]; then
    part "control plane" "hack/control-plane.sh by hand; is the disk full?" hack/control-plane.sh
    KUBEBUILDER_ASSETS=$(tail -n 1 "$state/build-control-plane.log.out")
    export KUBEBUILDER_ASSETS
  fi
  part "rocketmq $version" "hack/rocketmq.sh $version by hand; can Maven reach its repository (~/.m2/settings.xml)?" hack/rocketmq.sh "$version"
  part "test clients" "hack/clients.sh classic-$version go grpc by hand" hack/clients.sh "classic-$version" go grpc
  part "operator and demo" "go build ./cmd/manager ./test/demo by hand" go build -o "$state/bin/" ./cmd/manager ./test/demo
}

# started PIDFILE prints the process id when the very process that the file names
# still runs; a process id alone can be another program's by now.
started() {
  local pid began
  [[ -r $1 ]] && read -r pid began <"$1" || return 1
  [[ $(began "$pid") == "$began" ]] || return 1
  printf '%s\n' "$pid"
}

# began PID prints when the process began, in clock ticks since boot.
began() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }

run() {
  needs
  build
  rm -rf "$state/run"
  exec "$state/bin/demo" run -dir "$state/run" -manager "$state/bin/manager" -kubeconfig "$kubeconfig"
}

up() {
  local pid
  if pid=$(started "$state/up.pid"); then
    die "It is up already (process $pid). KUBECONFIG is $(cat "$state/up.ready" 2>/dev/null || echo 'not known yet'). End it with: make demo-down"
  fi
  needs
  build
  rm -rf "$state/up" "$state/up.ready"
  : >"$state/up.log"
  setsid "$state/bin/demo" serve -dir "$state/up" -manager "$state/bin/manager" -kubeconfig "$kubeconfig" \
    -ready-file "$state/up.ready" >"$state/up.log" 2>&1 </dev/null 9>&- &
  pid=$!
  printf '%s %s\n' "$pid" "$(began "$pid")" >"$state/up.pid"
  tail -n +1 -f --pid="$pid" "$state/up.log" 9>&- &
  local shown=$!
  trap 'kill "$shown" 2>/dev/null; exit 130' INT TERM
  until [[ -e $state/up.ready ]] || ! kill -0 "$pid" 2>/dev/null; do
    sleep 0.3
  done
  kill "$shown" 2>/dev/null || true
  wait "$shown" 2>/dev/null || true
  [[ -e $state/up.ready ]] || { rm -f "$state/up.pid"; die "It did not come up; see $state/up.log and $state/up"; }
}

down() {
  local pid
  if ! pid=$(started "$state/up.pid"); then
    rm -f "$state/up.pid"
    say "Nothing is up."
    return
  fi
  say "ending process $pid and what it started"
  kill -TERM "$pid"
  timeout 120 tail -f /dev/null --pid="$pid" || kill -KILL "$pid" 2>/dev/null || true
  rm -f "$state/up.pid" "$state/up.ready"
  say "ended; logs stay in $state/up"
}

mkdir -p "$state"
case $what in
  run | up)
    exec 9>"$state/lock"
    flock -n 9 || die "Another demo is being built or run in this repository (it holds $state/lock)."
    "$what"
    ;;
  down) down ;;
  *) die "usage: hack/demo.sh run|up|down [--kubeconfig FILE]" ;;
esac

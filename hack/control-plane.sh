#!/usr/bin/env bash
# Copyright The Lockstep Authors.
# SPDX-License-Identifier: Apache-2.0

# Builds etcd, kube-apiserver, kubectl and kube-controller-manager from their
# Go modules and prints the folder that holds them as the last line of stdout.
# Everything else goes to stderr.
#
#   hack/control-plane.sh                  all four programs
#   hack/control-plane.sh --only envtest   etcd, kube-apiserver, kubectl
#
# The versions are pinned by go.mod and go.sum in hack/controlplane/*; see
# hack/controlplane/README.md for how to change them.
#
# KUBEBUILDER_ASSETS  when set to a folder that holds the needed programs, that
#                     folder is printed and nothing is built.
# LOCKSTEP_CACHE      where the programs are kept (default:
#                     ${XDG_CACHE_HOME:-$HOME/.cache}/lockstep).
#
# A cold build takes about six minutes on two free cores; a repeated call
# returns at once. Two calls at the same time are safe: the second waits.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
modules="${here}/controlplane"

say() { printf 'control-plane: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

programs=(etcd kube-apiserver kubectl kube-controller-manager)
while [ $# -gt 0 ]; do
  case "$1" in
    --only)
      case "${2:-}" in
        envtest) programs=(etcd kube-apiserver kubectl) ;;
        all) ;;
        *) fail "--only takes envtest or all, not '${2:-}'" ;;
      esac
      shift 2
      ;;
    -h | --help) sed -n '4,22s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) fail "unknown argument '$1' (see --help)" ;;
  esac
done

# missing_in DIR prints the programs that DIR lacks.
missing_in() {
  local program
  for program in "${programs[@]}"; do
    [ -x "$1/${program}" ] || printf '%s ' "${program}"
  done
}

if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
  missing="$(missing_in "${KUBEBUILDER_ASSETS}")"
  if [ -z "${missing}" ]; then
    printf '%s\n' "${KUBEBUILDER_ASSETS}"
    exit 0
  fi
  say "KUBEBUILDER_ASSETS=${KUBEBUILDER_ASSETS} lacks ${missing}- using our own build instead"
fi

command -v go >/dev/null || fail "go is not in PATH; Go 1.26 or newer is needed to build the control plane"
export GOWORK=off

# digest prints a SHA-256 of stdin, on Linux and on macOS.
digest() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -c1-16; }

key="$( (go env GOOS GOARCH
  cat "${BASH_SOURCE[0]}" "${modules}"/etcd/{go.mod,go.sum,main.go} "${modules}"/kubernetes/{go.mod,go.sum}) | digest)"
cache="${LOCKSTEP_CACHE:-${XDG_CACHE_HOME:-${HOME}/.cache}/lockstep}/control-plane/${key}"
bin="${cache}/bin"

if [ -z "$(missing_in "${bin}")" ]; then
  printf '%s\n' "${bin}"
  exit 0
fi

mkdir -p "${bin}"
# One build at a time. Without flock both would build: slower, but still right,
# because each program appears under its name only by an atomic rename.
if command -v flock >/dev/null; then
  exec 9>"${cache}/lock"
  if ! flock -n 9; then
    say "waiting for another build in ${cache}"
    flock 9
  fi
  rm -rf "${cache}"/build.* # left by a build that was killed
fi

work="$(mktemp -d "${cache}/build.XXXXXX")"
trap 'rm -rf "${work}"' EXIT

# build PROGRAM MODULE PACKAGE LDFLAGS builds one program unless it is there.
# No -trimpath and no change of CGO_ENABLED: either would keep the Go build
# cache from sharing k8s.io packages with the builds of this repository.
# Descriptor 9 is closed so that no child can hold the lock after us.
build() {
  local program="$1" module="$2" package="$3" ldflags="$4" began="${SECONDS}"
  [ ! -x "${bin}/${program}" ] || return 0
  say "building ${program}"
  (cd "${modules}/${module}" && go build -o "${work}/${program}" -ldflags "-s -w ${ldflags}" "${package}") >&2 9>&- ||
    fail "building ${program} failed; the messages of go build are above"
  mv "${work}/${program}" "${bin}/${program}"
  say "built ${program} in $((SECONDS - began)) s"
}

# Without these flags the programs report a placeholder version, which clients
# and charts that look at the version take for a very old one.
version="$(cd "${modules}/kubernetes" && go list -m -f '{{.Version}}' k8s.io/kubernetes 9>&-)"
IFS=. read -r major minor _ <<<"${version#v}"
pkg=k8s.io/component-base/version
flags="-X ${pkg}.gitVersion=${version} -X ${pkg}.gitMajor=${major} -X ${pkg}.gitMinor=${minor}"

say "kubernetes ${version} into ${bin} (about six minutes when nothing is cached)"
for program in "${programs[@]}"; do
  case "${program}" in
    etcd) build etcd etcd . "" ;;
    *) build "${program}" kubernetes "k8s.io/kubernetes/cmd/${program}" "${flags}" ;;
  esac
done
printf '%s\n' "${bin}"

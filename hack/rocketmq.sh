#!/usr/bin/env bash
# Copyright The Lockstep Authors.
# SPDX-License-Identifier: Apache-2.0
#
# hack/rocketmq.sh VERSION... resolves the released RocketMQ servers and mqadmin of
# each version into <cache>/rocketmq/<version>/lib and prints that folder, one line
# a version, in order. Folders that are there are left alone; two runs at once are safe.
# <cache> is $LOCKSTEP_CACHE, else $XDG_CACHE_HOME/lockstep, else ~/.cache/lockstep.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/rocketmq/java.sh"

(($#)) || die "name at least one RocketMQ version, for example: $0 4.9.7 5.5.0"

resolve() {
  local version=$1 home=$lockstep_cache/rocketmq/$1 temp profile=()
  [[ -d $home/lib ]] && return
  case $version in
    4.*) ;;
    *) profile=(-Pproxy) ;;
  esac
  rm -rf "$lockstep_cache/rocketmq/.$version".* # what a killed run left
  temp=$(mktemp -d "$lockstep_cache/rocketmq/.$version.XXXXXX")
  say "resolving RocketMQ $version"
  if ! mvn -q -B -Dstyle.color=never -f "$here/rocketmq/pom.xml" "${profile[@]}" "-Drocketmq.version=$version" \
    dependency:copy-dependencies "-DoutputDirectory=$temp/lib" >&2; then
    rm -rf "$temp"
    die "Maven could not resolve RocketMQ $version: see its message above"
  fi
  chmod 755 "$temp"
  mv -T "$temp" "$home"
}

mkdir -p "$lockstep_cache/rocketmq"
for version in "$@"; do
  [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || die "\"$version\" is not a RocketMQ version such as 5.5.0"
  if [[ ! -d $lockstep_cache/rocketmq/$version/lib ]]; then
    need_java
    locked maven resolve "$version"
  fi
  printf '%s\n' "$lockstep_cache/rocketmq/$version/lib"
done

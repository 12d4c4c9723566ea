#!/usr/bin/env bash
# Copyright The Lockstep Authors.
# SPDX-License-Identifier: Apache-2.0
#
# hack/clients.sh [KIND...] builds test clients and prints one line a kind: the
# kind, a tab, and the program to run. Kinds (default: all):
#
#   classic-VERSION   the Java SDK of that RocketMQ version (produce, consume)
#   grpc              the Java gRPC SDK, for 5.x with a proxy (produce, consume, consume-simple)
#   go                rocketmq-client-go v2 (produce, consume)
#
# What was built is kept by the hash of its sources; two runs at once are safe.
# The programs' flags are in test/clients/README.md.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sources=$here/../test/clients
source "$here/rocketmq/java.sh"

kinds=("$@")
((${#kinds[@]})) || kinds=(classic-4.9.7 classic-5.3.3 classic-5.5.0 grpc go)

# digest KIND: of the sources, of this script, and of what compiles them.
digest() {
  {
    case $1 in
      go) go version ;;
      *) java -version 2>&1 ;;
    esac
    cat "${BASH_SOURCE[0]}"
    case $1 in
      go) cd "$sources/go" && set -- . ;;
      grpc) cd "$sources/java" && set -- pom.xml common grpc ;;
      *) cd "$sources/java" && set -- pom.xml common classic ;;
    esac
    find "$@" -type f -not -path '*/target/*' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
  } | sha256sum | cut -c1-12
}

# launcher CLASS prints the start script of a Java client. Many run at once on a
# small machine: little memory, no second compiler, and a class data archive.
launcher() {
  cat <<'SCRIPT' | sed "s/@CLASS@/$1/"
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
home=${LOCKSTEP_CLIENT_HOME:-${TMPDIR:-/tmp}/lockstep-clients}
archive=
if [ -f "$here/classes.jsa" ]; then archive=-XX:SharedArchiveFile=$here/classes.jsa; fi
# JAVA_OPTS is split on purpose: it holds several flags.
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto $archive -Xms8m -Xmx64m \
  -XX:MaxDirectMemorySize=64m -XX:ReservedCodeCacheSize=32m -Xss384k -XX:-UsePerfData \
  -Djava.net.preferIPv4Stack=true -Duser.home="$home" \
  -Drocketmq.log.level=warn -Drocketmq.client.logLevel=WARN \
  ${JAVA_OPTS:-} -cp "$here/lib/*" @CLASS@ "$@"
SCRIPT
}

# java_client FOLDER MODULE MAVEN_FLAGS... fills the folder.
java_client() {
  local folder=$1 module=$2
  shift 2
  cp -r "$sources/java" "$folder/src"
  mvn -q -B -Dstyle.color=never -f "$folder/src/pom.xml" -pl "common,$module" "$@" package >&2
  mkdir "$folder/lib"
  cp "$folder/src/$module/target/lib/"*.jar "$folder/src/$module/target/$module-1.jar" "$folder/lib/"
  rm -rf "$folder/src"
  launcher "dev.lockstep.clients.$module.Main" >"$folder/run"
  chmod +x "$folder/run"
}

# warm FOLDER writes the class data archive, which knows its jars by their final
# path. It only speeds starts up, so a failure is no more than reported.
warm() {
  if JAVA_OPTS="-XX:ArchiveClassesAtExit=$1/new.jsa" "$1/run" warm >/dev/null 2>"$1/warm.log" && [[ -f $1/new.jsa ]]; then
    mv "$1/new.jsa" "$1/classes.jsa"
  else
    say "no class data archive for $1: see $1/warm.log"
  fi
}

build() {
  local kind=$1 target=$2 temp
  [[ -x $target/run ]] && return
  say "building test client $kind"
  rm -rf "$lockstep_cache/clients/.$kind".* # what a killed run left
  temp=$(mktemp -d "$lockstep_cache/clients/.$kind.XXXXXX")
  chmod 755 "$temp"
  case $kind in
    classic-4.*) java_client "$temp" classic -Pacl1 "-Dclassic.version=${kind#classic-}" ;;
    classic-*) java_client "$temp" classic "-Dclassic.version=${kind#classic-}" ;;
    grpc) java_client "$temp" grpc ;;
    go) (cd "$sources/go" && go build -o "$temp/run" .) >&2 ;;
  esac
  mv -T "$temp" "$target"
  if [[ $kind != go ]]; then warm "$target"; fi
}

mkdir -p "$lockstep_cache/clients"
for kind in "${kinds[@]}"; do
  case $kind in
    go) command -v go >/dev/null || die "go is missing" ;;
    grpc) need_java ;;
    classic-*)
      [[ $kind =~ ^classic-[0-9]+\.[0-9]+\.[0-9]+$ ]] || die "\"$kind\" names no RocketMQ version, as classic-5.5.0 does"
      need_java
      ;;
    *) die "there is no client \"$kind\": want classic-VERSION, grpc or go" ;;
  esac
  target=$lockstep_cache/clients/$kind-$(digest "$kind")
  if [[ ! -x $target/run ]]; then
    # Maven's local repository is shared with hack/rocketmq.sh.
    locked maven build "$kind" "$target"
  fi
  printf '%s\t%s\n' "$kind" "$target/run"
done

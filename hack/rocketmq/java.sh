# Copyright The Lockstep Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by hack/rocketmq.sh and hack/clients.sh: where downloads are kept, a
# lock around Maven, and a JDK with Maven.

lockstep_cache="${LOCKSTEP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lockstep}"

# say prints progress on standard error: standard output carries results only.
say() { printf '%s\n' "$*" >&2; }

# die says one sentence and ends the script.
die() { say "$0: $*"; exit 1; }

# locked NAME COMMAND... runs the command while holding a lock that every script
# of this cache shares: two resolutions at once would write the same files of the
# local Maven repository.
locked() {
  local name=$1
  shift
  mkdir -p "$lockstep_cache"
  command -v flock >/dev/null || die "flock is missing: install util-linux"
  ( flock 9; "$@" ) 9>"$lockstep_cache/$name.lock"
}

# need_java makes sure of java, javac and mvn: present ones are used as they are,
# missing ones are installed where the system's package manager can be used.
need_java() {
  local missing=()
  java -version >/dev/null 2>&1 && javac -version >/dev/null 2>&1 || missing+=(jdk)
  command -v mvn >/dev/null || missing+=(maven)
  if ((${#missing[@]})); then locked java install_java "${missing[@]}"; fi
  local major
  major=$(java -version 2>&1 | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | head -n 1)
  [[ ${major:-0} -ge 11 ]] || die "Java ${major:-?} is too old: install a JDK of version 17 and put it first in PATH"
}

install_java() {
  local how="install a JDK (17 is the tested one) and Maven 3.6 or newer, for example: apt-get install openjdk-17-jdk-headless maven"
  local as=()
  if [[ $(id -u) != 0 ]]; then
    sudo -n true 2>/dev/null || die "missing $*: $how"
    as=(sudo -n)
  fi
  command -v apt-get >/dev/null || die "missing $*: $how"
  say "installing $* with apt-get"
  "${as[@]}" apt-get update -qq >&2
  local packages=() name
  for name in "$@"; do
    if [[ $name == maven ]]; then
      packages+=(maven)
    elif [[ -n $(apt-cache search --names-only '^openjdk-17-jdk-headless$') ]]; then
      packages+=(openjdk-17-jdk-headless)
    else
      packages+=(default-jdk-headless)
    fi
  done
  "${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >&2
}

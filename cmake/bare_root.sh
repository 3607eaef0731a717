#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tries the README's commands where nothing is installed: bare_root.sh [NAME...] (default: demo test; "ci" is .ci/run)
# makes a minimal Debian, clones what is committed here into it, and runs each command in a fresh copy. Needs root,
# debootstrap, git and a network; takes minutes. Removes what it made.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || set -- demo test

[ "$(id -u)" = 0 ] || { echo "not run: needs root, for chroot" >&2; exit 77; }
for tool in debootstrap git; do
  command -v $tool >/dev/null || { echo "not run: needs $tool" >&2; exit 77; }
done

# Everything below is made here, and taken down again on every way out.
work=$(mktemp -d)
mounted=()
cleanup() {
  for point in "${mounted[@]}"; do
    if mountpoint -q "$point"; then umount "$point" || true; fi
  done
  # --one-file-system: should an unmount have failed, the machine's own /dev is not deleted with the rest.
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# The mirror and the key of this machine's main archive, if it says which (one-line or deb822 sources).
suite=bookworm
sources=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null || true)
configured=$(grep -Eo '^(deb .*|URIs:.*)' <<<"$sources" | grep -Eo '[a-z+]+://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' ' || true)
mirror=$configured
keyring=$(grep -Eo '^Signed-By: */[^ ]+|signed-by=[^] ]+' <<<"$sources" | grep -Eo '/[^ ]+debian-archive[^ ]*' | head -n 1 || true)

echo "==== $suite from ${mirror:-the default mirror}"
debootstrap --variant=minbase --include=ca-certificates,git ${keyring:+--keyring="$keyring"} \
  "$suite" "$work/base" ${mirror:+"$mirror"}

# The way to the network is this machine's: names, proxies, certificates.
cp /etc/resolv.conf "$work/base/etc/resolv.conf"
[ ! -e /etc/hosts ] || cp /etc/hosts "$work/base/etc/hosts"
for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
  if [ -f "$file" ] && grep -Eq 'Acquire::|Proxy' "$file" && ! grep -q 'Invoke' "$file"; then
    cp "$file" "$work/base$file"
  fi
done
if [ -d /usr/local/share/ca-certificates ]; then
  cp -r /usr/local/share/ca-certificates "$work/base/usr/local/share/"
  chroot "$work/base" update-ca-certificates >/dev/null
fi
git clone --quiet --no-hardlinks "$here" "$work/base/root/scratchpad"

for name in "$@"; do
  if [ "$name" = ci ]; then
    command="CI=true bash .ci/run"
  else
    command=$(bash "$work/base/root/scratchpad/cmake/readme_command.sh" "$name")
  fi
  root=$work/$name
  cp -a "$work/base" "$root"
  mount -t proc proc "$root/proc"
  mounted+=("$root/proc")
  mount --bind /dev "$root/dev"
  mounted+=("$root/dev")
  printf '\n==== %s\n%s\n' "$name" "$command"
  begin=$SECONDS
  chroot "$root" /bin/bash -c "cd /root/scratchpad && $command" </dev/null
  echo "==== $name passed in $((SECONDS - begin)) s"
done

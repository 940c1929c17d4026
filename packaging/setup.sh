#!/usr/bin/env bash
# Unpacks the executable, which lies compressed in bin/. The automation service runs this before
# the entrypoint of every run; running it again does no harm.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/bin"

fail() {
  printf 'setup.sh: %s\n' "$1" >&2
  exit 1
}

packed=(*.xz)
name=${packed[0]%.xz}
[ -f "$name.xz" ] || fail 'the archive is not complete: there is no packed executable in bin/'

with_python='import lzma, shutil, sys
with lzma.open(sys.argv[1]) as packed, open(sys.argv[2], "wb") as out:
    shutil.copyfileobj(packed, out)'

unpack() {
  case $1 in
    xz) xz --decompress --stdout -- "$name.xz" >"$name.part" ;;
    busybox) busybox unxz -c "$name.xz" >"$name.part" ;;
    *) "$1" -c "$with_python" "$name.xz" "$name.part" ;;
  esac
}

trap 'rm -f -- "$name.part"' EXIT
tried=
for tool in xz python3 python busybox; do
  command -v "$tool" >/dev/null || continue
  if said=$(unpack "$tool" 2>&1); then
    chmod 755 -- "$name.part"
    mv -f -- "$name.part" "$name"
    # Better to fail here, with words, than at the entrypoint.
    said=$("./$name" --version 2>&1) || fail "$name does not start on this machine ($(uname -sm)): $said
It needs Linux on the kind of processor that it was built for, glibc 2.31 (Debian 11) or newer, and
a folder from which programs may be started."
    exit 0
  fi
  tried="$tried
  $tool: ${said##*$'\n'}"
done
fail "cannot unpack $name: it takes xz (package xz-utils) or python3 with its lzma module, and this
image has neither that works.$tried
Add one of them to the image, or deploy an archive with the unpacked executable from an https address
(docs/packaging.md)."

#!/bin/sh
# Unpacks the executable. Started once by the automation service in the unpacked archive.
set -eu
cd "$(dirname "$0")"
for packed in bin/*.xz; do
    [ -e "$packed" ] || continue
    plain=${packed%.xz}
    if command -v xz >/dev/null 2>&1; then
        xz -dc "$packed" >"$plain.part"
    elif command -v python3 >/dev/null 2>&1; then
        python3 -c 'import lzma, shutil, sys
with lzma.open(sys.argv[1]) as packed, open(sys.argv[2], "wb") as plain:
    shutil.copyfileobj(packed, plain)' "$packed" "$plain.part"
    else
        echo "setup.sh: cannot unpack $packed: neither xz nor python3 is on PATH; install one of them in the agent image (Debian: apt-get install xz-utils)" >&2
        exit 1
    fi
    chmod 755 "$plain.part"
    mv "$plain.part" "$plain"
    rm "$packed"
done

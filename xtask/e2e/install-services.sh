#!/usr/bin/env bash
# Installs the real agent server and automation service for `cargo xtask e2e` into a virtual
# environment of their own, by default .cache/e2e-venv. Does nothing when they are there already.
#
# usage: install-services.sh [--check | --relock]
#   --check   only say whether everything is installed (exit 0) or not (exit 1)
#   --relock  install what requirements.txt asks for afresh and write requirements.lock from it
#
# E2E_PYTHON  a Python >= 3.12 to use instead of searching for one
# E2E_VENV    where the virtual environment goes
#
# The last line on stdout is the path of the environment's Python.
# Exit codes: 0 installed, 1 failed, 2 usage, 77 no Python >= 3.12 found.
set -euo pipefail

readonly NO_PYTHON=77
readonly WANTED_VERSIONS="3.12 3.13 3.14"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=${E2E_VENV:-$root/.cache/e2e-venv}
stamp=$venv/.installed
mode=install

case "${1-}" in
'') ;;
--check) mode=check ;;
--relock) mode=relock ;;
*)
    sed -n '5,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac

say() { printf 'e2e services: %s\n' "$*" >&2; }

# What has to be the same for an earlier installation to count.
fingerprint() {
    cat "$here/requirements.txt" "$here/requirements.lock" | sha256sum | cut -d' ' -f1
}

installed() {
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(fingerprint)" ] &&
        "$venv/bin/python" -c 'import sys' 2>/dev/null
}

# A candidate must run, be new enough, and be able to make environments (Debian splits that off).
fits() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1
}

candidates() {
    if [ -n "${E2E_PYTHON-}" ]; then
        printf '%s\n' "$E2E_PYTHON"
        return
    fi
    local version pyenv
    for version in $WANTED_VERSIONS; do
        printf 'python%s\n' "$version"
        for pyenv in "${PYENV_ROOT:-}" "$HOME/.pyenv"; do
            [ -z "$pyenv" ] || printf '%s\n' "$pyenv/versions/$version".*/bin/python
        done
    done
    printf 'python3\npython\n'
    # Only what uv has already: a download is for people to decide.
    UV_PYTHON_DOWNLOADS=never uv python find '>=3.12' 2>/dev/null || true
}

find_python() {
    local candidate
    while IFS= read -r candidate; do
        if command -v "$candidate" >/dev/null 2>&1 && fits "$candidate"; then
            # The interpreter itself: a pyenv shim would depend on the working directory.
            "$candidate" -c 'import os, sys; print(os.path.realpath(sys.executable))'
            return 0
        fi
    done < <(candidates)
    return 1
}

no_python() {
    cat >&2 <<'TEXT'

  ******************************************************************************
  *  NO PYTHON >= 3.12 FOUND: the real services cannot run on this machine, so  *
  *  the end-to-end tests against them are NOT run.                             *
  ******************************************************************************

  Looked for: $E2E_PYTHON; python3.12 to python3.14, python3 and python on the PATH; the versions
  of pyenv under $PYENV_ROOT and ~/.pyenv; `uv python find '>=3.12'`. It must be able to make
  virtual environments (on Debian and Ubuntu: the package python3-venv).

  To get one: `pyenv install 3.12`, `uv python install 3.12`, or the system's packages; or set
  E2E_PYTHON to an interpreter.

TEXT
    exit "$NO_PYTHON"
}

if [ "$mode" = check ]; then
    installed || exit 1
    printf '%s\n' "$venv/bin/python"
    exit 0
fi

mkdir -p "$(dirname "$venv")"
# Two runs at once share the environment: the second waits for the first.
if command -v flock >/dev/null 2>&1; then
    exec 9>"$venv.lock"
    flock 9
fi

if [ "$mode" = install ] && installed; then
    printf '%s\n' "$venv/bin/python"
    exit 0
fi

python=$(find_python) || no_python
say "installing into $venv with $("$python" --version) ($python); this takes a minute or two"
started=$SECONDS
rm -rf "$venv"
"$python" -m venv "$venv"
pip=("$venv/bin/python" -m pip --disable-pip-version-check --no-input)
locked=(--constraint "$here/requirements.lock")
[ "$mode" = install ] || locked=()
if ! "${pip[@]}" install --quiet --requirement "$here/requirements.txt" "${locked[@]}" >&2; then
    say "pip could not install the services: see above. Is the package index reachable?"
    exit 1
fi
if [ "$mode" = relock ]; then
    {
        printf '# Every package of the environment, as install-services.sh --relock found them.\n'
        "${pip[@]}" freeze
    } >"$here/requirements.lock"
fi
if ! "$venv/bin/python" -c '
import importlib.util as find, sys
wanted = ("openhands.agent_server", "openhands.automation", "openhands.tools", "uvicorn")
missing = [name for name in wanted if find.find_spec(name) is None]
sys.exit(f"missing after the installation: {missing}" if missing else 0)
' >&2; then
    say "the installation is incomplete; remove $venv and try again"
    exit 1
fi
# Written last, so that an interrupted installation is done again.
fingerprint >"$stamp"
say "installed in $((SECONDS - started)) s"
printf '%s\n' "$venv/bin/python"

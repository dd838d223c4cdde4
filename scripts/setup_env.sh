#!/usr/bin/env bash
# Make a virtual environment with the bpy module and the test tools, or complete one that is there.
#
#   setup_env.sh VENV PYTHON BPY NUMPY SCIPY      e.g.  .venvs/b42 python3.11 4.2.* 1.24.* 1.15.3
#   setup_env.sh VENV PYTHON                      versions chosen by PYTHON: 3.11 or 3.13
set -euo pipefail

venv=$1 python=$2
requirements="$(dirname "${BASH_SOURCE[0]}")/requirements-dev.txt"
libraries=(libx11-6 libxrender1 libxxf86vm1 libxfixes3 libxi6 libxkbcommon0 libsm6 libice6 libgl1)

die() { printf 'setup: %s\n' "$1" >&2; exit 1; }

version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) ||
  die "'$python' does not run. Install Python 3.11 or 3.13 and name it: make test PYTHON=python3.11"
case "$version" in
  3.11) defaults=('5.0.*' '1.26.*' '1.15.3') ;;
  3.13) defaults=('5.3.*' '2.3.*' '1.17.*') ;;
  *) die "'$python' is Python $version, and Blender's module exists for 3.11 and 3.13. Name one of them: make test PYTHON=python3.11" ;;
esac
bpy=${3:-${defaults[0]}} numpy=${4:-${defaults[1]}} scipy=${5:-${defaults[2]}}

present=$("$venv/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || present=none
[ "$present" = "$version" ] || "$python" -m venv --clear "$venv" ||
  die "no virtual environment can be made with '$python'; on Debian install ${python##*/}-venv."
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
  "bpy==$bpy" "numpy==$numpy" "scipy==$scipy" -r "$requirements"

loads() { "$venv/bin/python" -c 'import bpy' 2>/dev/null; }
if ! loads && [ "$(uname -s)" = Linux ]; then
  advice="apt-get install ${libraries[*]}"
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null ||
    die "the bpy module lacks system libraries. As an administrator run: $advice"
  echo "setup: installing the system libraries that the bpy module needs"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${libraries[@]}" >/dev/null
fi
loads || { "$venv/bin/python" -c 'import bpy' || true; die "the bpy module does not load; the reason is above."; }

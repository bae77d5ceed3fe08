#!/usr/bin/env bash
# Prints the path of a Deno. It comes out of its npm package, once, into the user's cache: it is too large for everyone who runs
# `npm install`.
set -euo pipefail
readonly VERSION=2.9.6
folder=${XDG_CACHE_HOME:-$HOME/.cache}/countersign/deno-$VERSION
[[ -d $folder/node_modules/deno ]] || npm install --silent --no-fund --no-audit --prefix "$folder" "deno@$VERSION" >&2
ls "$folder"/node_modules/@deno/*/deno

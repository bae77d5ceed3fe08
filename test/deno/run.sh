#!/usr/bin/env bash
# Runs flow tests under Deno; without arguments all of them. On RabbitMQ and MongoDB too where AMQP_URL and MONGODB_URL are set. Deno comes
# out of its npm package, once, into the user's cache: it is too large for everyone who runs `npm install`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly VERSION=2.9.6
folder=${XDG_CACHE_HOME:-$HOME/.cache}/countersign/deno-$VERSION
[[ -d $folder/node_modules/deno ]] || npm install --silent --no-fund --no-audit --prefix "$folder" "deno@$VERSION"
deno=$(ls "$folder"/node_modules/@deno/*/deno)
echo "Deno $VERSION"
TMPDIR=${TMPDIR:-$([[ -w /dev/shm ]] && echo /dev/shm || echo /tmp)} exec "$deno" run --allow-all dist/test/deno/main.js "$@"

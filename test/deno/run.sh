#!/usr/bin/env bash
# Runs flow tests under Deno; without arguments all of them. On RabbitMQ and MongoDB too where AMQP_URL and MONGODB_URL are set.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
deno=$(test/deno/install.sh)
"$deno" --version | head -n 1
TMPDIR=${TMPDIR:-$([[ -w /dev/shm ]] && echo /dev/shm || echo /tmp)} exec "$deno" run --allow-all dist/test/deno/main.js "$@"

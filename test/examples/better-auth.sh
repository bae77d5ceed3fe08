#!/bin/sh
# Installs Better Auth (without scripts) in a temporary folder and plays docs/examples/better-auth.mjs against Countersign on the embedded
# engines. Needs `npm run build` before. Not part of `npm test`: the installation takes a minute.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$work"' EXIT
cp "$root/docs/examples/better-auth.mjs" "$work/example.mjs"
cp "$root/test/examples/better-auth.mjs" "$work/play.mjs"
client=$(cd "$root" && npm pack --silent --pack-destination "$work" ./clients/typescript | tail -n 1)
(cd "$work" && npm install --ignore-scripts --no-audit --no-fund --no-save better-auth@1.6 "./$client" >/dev/null)
export COUNTERSIGN_TOKEN=better-auth-operator-token COUNTERSIGN_KEY=sk_test_better_auth_example_0001
cat >"$work/bootstrap.json" <<JSON
{"companies":[{"id":"cmp_ba","name":"Acme","apps":[{"id":"app_ba","name":"Shop",
 "keys":[{"id":"key_ba","kind":"server","mode":"test","key":"$COUNTERSIGN_KEY"}]}]}]}
JSON
port=$(node -e "const s=require('node:net').createServer().listen(0,()=>{console.log(s.address().port);s.close()})")
export COUNTERSIGN_URL="http://127.0.0.1:$port"
(cd "$root" && PORT=$port DATA_DIR="$work/data" ADMIN_TOKEN="$COUNTERSIGN_TOKEN" BOOTSTRAP_FILE="$work/bootstrap.json" \
  exec node dist/services/main.js) >"$work/log" 2>&1 &
pid=$!
tries=0
until node -e "fetch('$COUNTERSIGN_URL/readyz').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))"; do
  tries=$((tries + 1))
  [ "$tries" -lt 120 ] || { cat "$work/log"; exit 1; }
  sleep 0.5
done
(cd "$work" && node play.mjs)

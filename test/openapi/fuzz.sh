#!/usr/bin/env bash
# Fuzzes the API by its own description: schemathesis makes requests from /openapi.json, well-formed and malformed, single and in
# sequence, and compares every answer with the document. A 5xx or an undocumented answer fails. It runs once with a server key and once
# with a publishable key, on the embedded engines. schemathesis.toml has the settings, hooks.py what the document cannot say. It needs
# python3 with pip; schemathesis is installed once, in the user's cache.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Both are pinned: the same versions make the same requests from the same seed.
readonly PACKAGES=(schemathesis==4.32.5 hypothesis==6.170.15)
readonly START_TIMEOUT_SECONDS=60 FUZZ_TIMEOUT_SECONDS=180
export ADMIN_TOKEN=fuzz SERVER_KEY=sk_test_fuzz
PUBLISHABLE_KEY=pk_test_fuzz
TOOLS=${XDG_CACHE_HOME:-$HOME/.cache}/countersign/$(IFS=_ && echo "${PACKAGES[*]/==/-}")

die() {
  echo "openapi: $*" >&2
  exit 1
}

# --without-pip: Debian's python3 cannot install pip there, and the system's pip can install into the environment.
install() {
  [[ -x $TOOLS/bin/schemathesis ]] && return
  python3 -m pip --version >/dev/null 2>&1 || die 'python3 with pip is needed: apt-get install python3-pip'
  echo "openapi: installing ${PACKAGES[*]}"
  rm -rf "$TOOLS"
  python3 -m venv --without-pip "$TOOLS"
  python3 -m pip --python "$TOOLS" install -q --disable-pip-version-check "${PACKAGES[@]}"
}

# The service gets a clean environment: MONGODB_URL would change its engines, and NODE_ENV its rules.
serve() {
  env -i PATH="$PATH" PORT=0 DATA_DIR="$work/data" BOOTSTRAP_FILE=test/openapi/bootstrap.json ADMIN_TOKEN=$ADMIN_TOKEN \
    node dist/services/main.js >"$work/log" 2>&1 &
  pid=$!
  local until=$((SECONDS + START_TIMEOUT_SECONDS))
  until ready; do
    kill -0 "$pid" 2>/dev/null || { cat "$work/log" && die 'the service ended while starting'; }
    ((SECONDS < until)) || { cat "$work/log" && die "the service was not ready in $START_TIMEOUT_SECONDS s"; }
    sleep 0.2
  done
}

# The log of the service has its URL.
ready() {
  ORIGIN=$(sed -n '/countersign.listening/s/.*"url":"\([^"]*\)".*/\1/p' "$work/log")
  [[ -n $ORIGIN ]] && node -e 'fetch(process.argv[1]).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))' "$ORIGIN/readyz"
}

# fuzz <kind> <key>
fuzz() (
  echo "--- with a $1 key"
  cd test/openapi
  export ORIGIN API_KEY=$2 HYPOTHESIS_STORAGE_DIRECTORY=$work/hypothesis PYTHONPYCACHEPREFIX=$work/python
  timeout "$FUZZ_TIMEOUT_SECONDS" "$TOOLS/bin/schemathesis" run "$ORIGIN/openapi.json"
)

work=$(mktemp -d)
pid=
trap 'kill -KILL $pid 2>/dev/null || true; rm -rf "$work"' EXIT
install
npm run --silent build
serve
failed=()
fuzz server "$SERVER_KEY" || failed+=('with a server key')
fuzz publishable "$PUBLISHABLE_KEY" || failed+=('with a publishable key')
kill -TERM "$pid"
wait "$pid" || failed+=("the service ended with $?")
if ((${#failed[@]} > 0)); then
  grep -E '"level":"(warn|error|fatal)"' "$work/log" | tail -n 20 || true
  printf 'openapi: FAILED: %s\n' "${failed[@]}" >&2
  exit 1
fi
echo 'openapi: every answer was as documented'

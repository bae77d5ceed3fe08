#!/usr/bin/env bash
# Tries the OpenAPI document with other people's tools:
#   redocly                lints docs/openapi.json; a warning fails
#   openapi-typescript     makes types, against which clients/typescript.ts is compiled
#   openapi-python-client  makes a client, with which clients/python.py sends, verifies and calls the admin API; a warning fails
#   schemathesis           makes requests from /openapi.json, well-formed and malformed, single and in sequence, and compares every answer
#                          with the document; a 5xx or an undocumented answer fails. Once with a server key, once with a publishable key,
#                          once with an operator's token. schemathesis*.toml have the settings, hooks.py what the document cannot say.
# It runs on the embedded engines and needs npm and python3 with pip. The tools are installed once, in the user's cache: they are too large
# for everyone who runs `npm install`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# All are pinned: the same versions make the same requests and the same complaints.
readonly FUZZER=(schemathesis==4.32.5 hypothesis==6.170.15)
readonly PYTHON_GENERATOR=(openapi-python-client==0.29.1)
# Generous: .ci/run has these beside tests that keep both processors busy.
readonly START_TIMEOUT_SECONDS=120 FUZZ_TIMEOUT_SECONDS=900
export ADMIN_TOKEN=fuzz-operator SERVER_KEY=sk_test_fuzz
PUBLISHABLE_KEY=pk_test_fuzz
# openapi-typescript needs the compiler as a library, which TypeScript 7 does not have.
readonly NODE_TOOLS=(@redocly/cli@2.73.0 openapi-typescript@7.13.0 typescript@5.9.3)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/countersign
NODE_TOOLS_FOLDER=$CACHE/openapi-node-2.73.0-7.13.0-5.9.3
FUZZ_TOOLS=$CACHE/$(IFS=_ && echo "${FUZZER[*]/==/-}")
GENERATE_TOOLS=$CACHE/${PYTHON_GENERATOR[0]/==/-}

die() {
  echo "openapi: $*" >&2
  exit 1
}

# install_python <folder> <package…>
# --without-pip: Debian's python3 cannot install pip there, and the system's pip can install into the environment.
install_python() {
  [[ -f $1/complete ]] && return
  python3 -m pip --version >/dev/null 2>&1 || die 'python3 with pip is needed: apt-get install python3-pip'
  echo "openapi: installing ${*:2}"
  rm -rf "$1"
  python3 -m venv --without-pip "$1"
  python3 -m pip --python "$1" install -q --disable-pip-version-check "${@:2}"
  touch "$1/complete"
}

install_node_tools() {
  [[ -f $NODE_TOOLS_FOLDER/complete ]] && return
  echo "openapi: installing ${NODE_TOOLS[*]}"
  rm -rf "$NODE_TOOLS_FOLDER"
  mkdir -p "$NODE_TOOLS_FOLDER"
  npm install --prefix "$NODE_TOOLS_FOLDER" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error "${NODE_TOOLS[@]}"
  touch "$NODE_TOOLS_FOLDER/complete"
}

lint() {
  echo '--- redocly'
  REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true \
    "$NODE_TOOLS_FOLDER/node_modules/.bin/redocly" lint docs/openapi.json --config test/openapi/redocly.yaml
}

typescript() {
  echo '--- openapi-typescript'
  mkdir "$work/typescript"
  cp test/openapi/clients/typescript.ts "$work/typescript/"
  "$NODE_TOOLS_FOLDER/node_modules/.bin/openapi-typescript" docs/openapi.json -o "$work/typescript/generated.ts"
  echo '{ "compilerOptions": { "strict": true, "exactOptionalPropertyTypes": true, "noEmit": true, "module": "nodenext", "types": [],
    "allowImportingTsExtensions": true }, "files": ["typescript.ts"] }' >"$work/typescript/tsconfig.json"
  "$NODE_TOOLS_FOLDER/node_modules/.bin/tsc" -p "$work/typescript"
}

# ruff, which formats the client, is in the same environment.
python() {
  echo '--- openapi-python-client'
  PATH="$GENERATE_TOOLS/bin:$PATH" "$GENERATE_TOOLS/bin/openapi-python-client" generate --path docs/openapi.json --meta none \
    --output-path "$work/python/countersign_client" --config test/openapi/python-client.yaml --fail-on-warning
  ORIGIN=$ORIGIN PYTHONPATH=$work/python PYTHONDONTWRITEBYTECODE=1 "$GENERATE_TOOLS/bin/python" test/openapi/clients/python.py
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

# fuzz <who> <token> <settings> <path>
fuzz() (
  echo "--- schemathesis, $1"
  cd test/openapi
  export ORIGIN API_KEY=$2 HYPOTHESIS_STORAGE_DIRECTORY=$work/hypothesis PYTHONPYCACHEPREFIX=$work/pycache
  timeout "$FUZZ_TIMEOUT_SECONDS" "$FUZZ_TOOLS/bin/schemathesis" --config-file "$3" run "$ORIGIN/openapi.json" --url "$ORIGIN" \
    --include-path-regex "^$4"
)

# try <what> <command…>: a failure is remembered, so that one run tells all that is wrong.
failed=()
try() {
  local what=$1 began=$SECONDS
  shift
  # A function in a condition ignores set -e, so it runs in a shell of its own.
  set +e
  (
    set -e
    "$@"
  )
  local code=$?
  set -e
  ((code == 0)) || failed+=("$what")
  echo "--- $what: $((SECONDS - began)) s"
}

work=$(mktemp -d)
pid=
trap 'kill -KILL $pid 2>/dev/null || true; rm -rf "$work"' EXIT
install_python "$FUZZ_TOOLS" "${FUZZER[@]}"
install_python "$GENERATE_TOOLS" "${PYTHON_GENERATOR[@]}"
install_node_tools
npm run --silent build
try 'redocly' lint
try 'openapi-typescript' typescript
serve
try 'openapi-python-client' python
try 'with a server key' fuzz 'with a server key' "$SERVER_KEY" schemathesis.toml /api/v1/
try 'with a publishable key' fuzz 'with a publishable key' "$PUBLISHABLE_KEY" schemathesis.toml /api/v1/
# Last: it revokes keys, closes apps and changes settings.
try "with an operator's token" fuzz "with an operator's token" "$ADMIN_TOKEN" schemathesis.admin.toml /admin/v1/
kill -TERM "$pid"
wait "$pid" || failed+=("the service ended with $?")
if ((${#failed[@]} > 0)); then
  grep -E '"level":"(warn|error|fatal)"' "$work/log" | tail -n 20 || true
  printf 'openapi: FAILED: %s\n' "${failed[@]}" >&2
  exit 1
fi
echo 'openapi: every answer was as documented, and every tool understood the document'

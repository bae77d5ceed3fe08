# The npm tools that read docs/openapi.json, installed once, in the user's cache. For run.sh and types.sh, at the top of the repository.
# shellcheck shell=bash
# openapi-typescript needs the compiler as a library, which TypeScript 7 does not have. All are pinned.
readonly NODE_TOOLS=(@redocly/cli@2.73.0 openapi-typescript@7.13.0 typescript@5.9.3)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/countersign
NODE_TOOLS_FOLDER=$CACHE/openapi-node-2.73.0-7.13.0-5.9.3
# shellcheck disable=SC2034 # both scripts use it
DASHBOARD_TYPES=services/dashboard/web/api/schema.ts

install_node_tools() {
  [[ -f $NODE_TOOLS_FOLDER/complete ]] && return
  echo "openapi: installing ${NODE_TOOLS[*]}"
  rm -rf "$NODE_TOOLS_FOLDER"
  mkdir -p "$NODE_TOOLS_FOLDER"
  npm install --prefix "$NODE_TOOLS_FOLDER" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error "${NODE_TOOLS[@]}"
  touch "$NODE_TOOLS_FOLDER/complete"
}

# generate_types <file>
generate_types() { "$NODE_TOOLS_FOLDER/node_modules/.bin/openapi-typescript" docs/openapi.json -o "$1"; }

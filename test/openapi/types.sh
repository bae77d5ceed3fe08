#!/usr/bin/env bash
# Writes the types of the admin API that the dashboard's pages use, from docs/openapi.json. test/openapi/run.sh keeps them true.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source test/openapi/node-tools.sh
install_node_tools
generate_types "$DASHBOARD_TYPES"

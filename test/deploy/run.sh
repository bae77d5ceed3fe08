#!/usr/bin/env bash
# Checks infra/deploy with the ecosystem's own tools: compose-go, helm, kubectl-validate with KEDA's CRDs, promtool, and the types of Grafana.
# Needs Go, npm and promtool (Debian: apt-get install prometheus; or its path in PROMTOOL). The rest is installed with Go and npm into a
# cache folder when it is missing; after that nothing is downloaded. What is missing is a failure, never skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly DEPLOY=infra/deploy CHART=infra/deploy/helm/countersign
readonly HELM=v3.22.0 KUBECTL_VALIDATE=v0.0.4 KEDA=v2.21.0 GRAFANA_SCHEMA=13.2.3
# The newest that is inside kubectl-validate.
readonly KUBERNETES=1.30
readonly CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/countersign/deploy-tools
readonly PROMTOOL=${PROMTOOL:-promtool}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { echo "test:deploy: $*"; }
die() {
  say "$*" >&2
  exit 1
}

command -v go >/dev/null || die 'Go is missing: it builds helm, kubectl-validate and the check of compose.yml'
command -v "$PROMTOOL" >/dev/null || die "promtool is missing: apt-get install prometheus, or set PROMTOOL to its path"

# tool <name> <module@version>: its path. A file of another version is replaced.
tool() {
  local folder=$CACHE/$1-${2##*@}
  [[ -x $folder/$1 ]] || { say "building $1 ${2##*@}" >&2 && GOBIN=$folder GOFLAGS=-mod=mod go install "$2" >&2; } || die "$1 could not be built"
  echo "$folder/$1"
}
helm=$(tool helm "helm.sh/helm/v3/cmd/helm@$HELM")
kubectl_validate=$(tool kubectl-validate "sigs.k8s.io/kubectl-validate@$KUBECTL_VALIDATE")
keda=$(cd "$work" && go mod download -json "github.com/kedacore/keda/v2@$KEDA" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
[[ -d $keda/config/crd/bases ]] || die "KEDA's definitions could not be had"
(cd test/deploy/compose && go build -o "$work/compose" .) || die 'the check of compose.yml could not be built'

say 'compose.yml, with .env.example'
"$work/compose" "$DEPLOY/compose.yml" "$DEPLOY/.env.example" >"$work/compose.json"
node test/deploy/check-compose.mjs "$work/compose.json"

say 'the Helm chart'
for values in "$CHART/values.yaml" "$CHART"/ci/*.yaml; do
  name=$(basename "$values" .yaml)
  "$helm" lint --strict --quiet --kube-version "$KUBERNETES" -f "$values" "$CHART"
  "$helm" template countersign "$CHART" --kube-version "$KUBERNETES" -f "$values" >"$work/$name.yaml"
  "$kubectl_validate" "$work/$name.yaml" --version "$KUBERNETES" --local-crds "$keda/config/crd/bases"
done
grep -qF '{ name: MAX_BODY_BYTES, value: "1048576" }' "$work/everything-values.yaml" || die 'a large number in env is written otherwise'
# A rule without ports would allow all of them.
"$helm" template countersign "$CHART" --kube-version "$KUBERNETES" --set-json 'networkPolicies.outside=[]' >"$work/closed.yaml"
! grep -qE -- '- ports:$' "$work/closed.yaml" || die 'networkPolicies.outside: [] opens all ports'
! "$helm" template countersign "$CHART" --kube-version "$KUBERNETES" --set roles.edge.replicas=many >/dev/null 2>&1 ||
  die 'the schema of the values accepts what is wrong'

say 'alert rules'
"$PROMTOOL" check rules "$DEPLOY/prometheus/countersign.rules.yml"
for rules in "$DEPLOY"/prometheus/*.test.yml; do "$PROMTOOL" test rules "$rules"; done

say 'boards'
node test/deploy/board-queries.mjs "$DEPLOY"/grafana/*.json >"$work/queries.yml"
"$PROMTOOL" check rules "$work/queries.yml"
types=$CACHE/grafana-schema-$GRAFANA_SCHEMA
[[ -d $types/node_modules/@grafana/schema ]] ||
  npm install --silent --prefix "$types" --no-save "@grafana/schema@$GRAFANA_SCHEMA" || die '@grafana/schema could not be had'
ln -s "$types/node_modules" "$work/node_modules"
# JSON has the values of enums, not their names.
cat >"$work/json.ts" <<'TS'
export type Json<T> = T extends string
  ? `${T}`
  : T extends number | boolean | null | undefined ? T : T extends (infer U)[] ? Json<U>[] : { [K in keyof T]: Json<T[K]> }
TS
for board in "$DEPLOY"/grafana/*.json; do
  {
    echo "import type { Dashboard } from '@grafana/schema'; import type { Json } from './json'; export default ("
    cat "$board"
    echo ') satisfies Json<Dashboard>'
  } >"$work/$(basename "$board" .json).ts"
done
tsc=$PWD/node_modules/.bin/tsc
(cd "$work" && "$tsc" --noEmit --strict --skipLibCheck --moduleResolution bundler --module esnext ./*.ts)
say 'all is well'

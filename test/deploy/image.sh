#!/usr/bin/env bash
# Builds the image and runs it as a deployment does: as user 1000, without capabilities, on a read-only root. Without MONGODB_URL and
# AMQP_URL it runs on the embedded engines, with a folder in memory as /data; with them (infra/engines.sh run test/deploy/image.sh) no folder
# is writable. The base is a minimal Debian with a Node out of its npm package, because a registry of images cannot be had everywhere.
# Needs root and Debian's buildah, runc and debootstrap.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly NODE=24 BASE=localhost/countersign-base IMAGE=localhost/countersign-tried
export BUILDAH_ISOLATION=chroot

work=$(mktemp -d)
container='' running="countersign-$$"
finish() {
  runc delete --force "$running" 2>/dev/null || true
  [[ -z $container ]] || buildah rm "$container" >/dev/null
  rm -rf "$work"
}
trap finish EXIT

say() { echo "test:image: $*"; }
die() {
  say "$*" >&2
  exit 1
}
for tool in buildah runc debootstrap curl; do command -v "$tool" >/dev/null || die "$tool is missing: apt-get install $tool"; done

# Made once, because it takes a minute. NODE_EXTRA_CA_CERTS: where npm packages come through a proxy with a certificate of its own.
make_base() {
  local root=$work/root npm
  say "making a base: Debian with Node $NODE"
  debootstrap --variant=minbase bookworm "$root" >"$work/debootstrap.log" || { tail "$work/debootstrap.log" && die 'debootstrap failed'; }
  npm install --silent --prefix "$work/node" --no-save "node-linux-$(node -p process.arch)@$NODE"
  cp "$work"/node/node_modules/node-linux-*/bin/node "$root/usr/local/bin/"
  npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
  mkdir -p "$root/usr/local/lib/node_modules"
  cp -r "$npm" "$root/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  container=$(buildah from scratch)
  if [[ -n ${NODE_EXTRA_CA_CERTS:-} ]]; then
    install -D "$NODE_EXTRA_CA_CERTS" "$root/etc/ssl/certs/extra-ca.pem"
    buildah config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/extra-ca.pem "$container"
  fi
  buildah add -q "$container" "$root" / >/dev/null
  buildah commit -q "$container" "$BASE:$NODE" >/dev/null
  buildah rm "$container" >/dev/null
  container=''
}
buildah inspect --type image "$BASE:$NODE" >/dev/null 2>&1 || make_base

say 'building the image'
# In docker's own format, because the other one has no health check.
buildah bud --format docker --network host -f infra/deploy/Dockerfile --build-arg "BASE_IMAGE=$BASE:$NODE" -t "$IMAGE" . >"$work/build.log" 2>&1 ||
  { tail -n 30 "$work/build.log" && die 'the image could not be built'; }
container=$(buildah from "$IMAGE")
root=$(buildah mount "$container")
say "$(du -sm "$root/app" | cut -f1) MB beside the base"

port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })')
secret() { echo "k1:$(head -c 32 /dev/urandom | base64)"; }
settings=("HOST=127.0.0.1" "PORT=$port" "CODE_SECRETS=$(secret)" "DATA_KEYS=$(secret)" "ADMIN_TOKEN=$(head -c 24 /dev/urandom | base64)")
if [[ -n ${MONGODB_URL:-} ]]; then settings+=("MONGODB_URL=$MONGODB_URL" "AMQP_URL=$AMQP_URL"); else settings+=(ENGINE=embedded); fi

# The image's own user, command and variables, and of runc's specification what takes rights away.
mkdir "$work/bundle"
(cd "$work/bundle" && runc spec)
buildah inspect --type image "$IMAGE" >"$work/image.json"
node - "$work" "$root" "${settings[@]}" <<'JS'
const { readFileSync, writeFileSync } = require('node:fs')
const [work, root, ...settings] = process.argv.slice(2)
const { User, Entrypoint, Env, WorkingDir } = JSON.parse(readFileSync(`${work}/image.json`)).Docker.config
const spec = JSON.parse(readFileSync(`${work}/bundle/config.json`))
const [uid, gid] = User.split(':').map(Number)
if (!(uid > 0 && gid > 0)) throw new Error(`the image runs as ${User}`)
spec.root = { path: root, readonly: true }
Object.assign(spec.process, { terminal: false, user: { uid, gid }, cwd: WorkingDir, args: Entrypoint, env: [...Env, ...settings] })
spec.process.noNewPrivileges = true
for (const set of Object.keys(spec.process.capabilities)) spec.process.capabilities[set] = []
spec.linux.namespaces = spec.linux.namespaces.filter(({ type }) => type !== 'network')
if (settings.includes('ENGINE=embedded'))
  spec.mounts.push({ destination: '/data', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', `uid=${uid}`, `gid=${gid}`] })
writeFileSync(`${work}/bundle/config.json`, JSON.stringify(spec))
JS

say "running it on $([[ -n ${MONGODB_URL:-} ]] && echo 'RabbitMQ and MongoDB' || echo 'the embedded engines')"
(cd "$work/bundle" && exec runc run "$running") >"$work/output" 2>&1 &
pid=$!
for _ in $(seq 120); do
  curl --silent --fail --output "$work/ready" "http://127.0.0.1:$port/readyz" && break
  kill -0 $pid 2>/dev/null || break
  sleep 0.5
done
[[ -s $work/ready ]] || { cat "$work/output" && die 'it did not become ready'; }
for path in / /docs /element.js; do curl --silent --fail --output /dev/null "http://127.0.0.1:$port$path" || die "$path is not served"; done
runc exec "$running" sh -c 'for file in /app/x /tmp/x /x; do touch $file 2>/dev/null && exit 1; done; exit 0' || die 'its root is writable'
runc exec "$running" sh -c 'grep -q "^CapEff:.*0000000000000000$" /proc/1/status && test "$(id -u)" != 0' || die 'it has rights that it does not need'
runc kill "$running" TERM
wait $pid || { cat "$work/output" && die 'it did not end well'; }
say 'it was ready, served its pages, wrote nothing outside of /data, and ended when it was asked to'

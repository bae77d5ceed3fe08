// Builds what changed since the last build, and says what it builds, because the first build takes a while.
//
//   node infra/build.mjs          the server and its pages, for `npm start`
//   node infra/build.mjs tests    the tests as well
//   node infra/build.mjs types    only the types of the APIs, for type checks and editors
//   node infra/build.mjs cli      the server without its pages, for the command line
//
// It is JavaScript because nothing is compiled yet when it runs.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { clientPart, typesOf } from './openapi/types.mjs'

const ROOT = join(import.meta.dirname, '..')
const SITES = { dashboard: 'services/dashboard/web', docs: 'services/edge/docs/web', element: 'clients' }
const SERVER = ['tsconfig.json', 'package-lock.json', 'machines', 'infra', 'services']
/** `builds`: the tests are compiled together with the server. */
const PROJECTS = {
  server: { config: '.', sources: SERVER, builds: ['server'] },
  tests: { config: 'test', sources: [...SERVER, 'clients', 'test', 'docs/examples'], builds: ['server', 'tests'] },
}

const timeOf = path => statSync(resolve(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0

/** The time of a folder tells that a file in it was added or removed. */
function lastChange(path) {
  const inside = statSync(join(ROOT, path)).isDirectory() ? readdirSync(join(ROOT, path), { recursive: true }) : []
  return Math.max(timeOf(path), ...inside.map(name => timeOf(join(path, name))))
}

const markOf = name => `dist/.built-${name}`
const announce = what => process.stderr.write(`countersign: building the ${what}…\n`)

function compile(name) {
  const { config, sources, builds } = PROJECTS[name]
  if (timeOf(markOf(name)) > Math.max(...sources.map(lastChange))) return
  announce(name)
  const compiler = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc')
  const { status } = spawnSync(process.execPath, [compiler, '-b', config], { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
  for (const built of builds) writeFileSync(join(ROOT, markOf(built)), '')
}

/** What the pages of the dashboard, the command line and the clients know of the APIs. */
const API_TYPES = {
  'services/dashboard/web/api/schema.ts': document => document,
  'services/cli/schema.ts': document => document,
  'clients/typescript/src/schema.ts': clientPart,
}

function writeApiTypes() {
  const document = 'docs/openapi.json'
  const made = Math.max(timeOf(document), timeOf('infra/openapi/types.mjs'))
  for (const [types, part] of Object.entries(API_TYPES))
    if (timeOf(types) <= made)
      writeFileSync(join(ROOT, types), typesOf(part(JSON.parse(readFileSync(join(ROOT, document), 'utf8')))))
}

const target = process.argv[2] ?? 'server'
writeApiTypes()
if (target === 'types') process.exit()
compile(target === 'cli' ? 'server' : target)
if (target === 'cli') process.exit()
if (target === 'tests') {
  const { bundlePrograms, LAST_BUNDLE } = await import(join(ROOT, 'dist/test/support/bundle.js'))
  if (timeOf(LAST_BUNDLE) < timeOf(markOf('tests'))) await bundlePrograms()
}
const { buildSites } = await import(join(ROOT, 'dist/infra/web/build.js'))
await buildSites(
  SITES,
  site => announce(`${site} for web pages`),
  module => import(module),
)

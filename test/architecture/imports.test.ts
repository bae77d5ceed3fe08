// The import table of the house. It reads the sources, so a forbidden import fails here whatever a linter is told.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect } from 'chai'

const ROOT = resolve(import.meta.dirname, '../..')
const ADAPTERS = /^infra\/(broker\/(amqp|embedded)|store\/(mongo|embedded))\b/

interface Import {
  from: string
  /** A path inside the repo, or a package's name. */
  to: string
  typeOnly: boolean
}

const sources = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.tsx?$/.test(name))
    .map(name => join(folder, name))

const withoutComments = (file: string): string =>
  readFileSync(join(ROOT, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')

/** Static imports, re-exports and `import()` alike. */
function importsOf(file: string): Import[] {
  const statements = withoutComments(file).matchAll(
    /\b(import|export)\s+(type\s)?([^'"();=]*?from\s*)?['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]/g,
  )
  return [...statements].map(([, , type, , named, dynamic]) => {
    const target = named ?? dynamic ?? ''
    const to = target.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(file), target)) : target
    return { from: file, to, typeOnly: type !== undefined }
  })
}

const isPackage = (to: string): boolean => !/^(machines|infra|services|test|\.\.)(\/|$)/.test(to)
const adapter = (path: string): string | undefined => ADAPTERS.exec(path)?.[0]
const service = (path: string): string | undefined => /^services\/([^/]+)\//.exec(path)?.[1]

/** Why an import may not be, or undefined when it may. */
function objection({ from, to, typeOnly }: Import): string | undefined {
  if (from.startsWith('machines/'))
    return /^(machines\/|xstate($|\/))/.test(to) ? undefined : 'machines import xstate and themselves, nothing else'
  if (to.startsWith('test/')) return 'product code never imports tests'
  if (from === 'services/main.ts') return undefined
  // Also not for a part of infra: whoever imports that part would have opened the adapter with it.
  if (adapter(to) && adapter(to) !== adapter(from)) return 'only services/main.ts opens adapters'
  if (from.startsWith('infra/')) {
    if (to.startsWith('machines/')) return typeOnly ? undefined : 'infra imports only types from machines'
    return isPackage(to) || to.startsWith('infra/')
      ? undefined
      : 'infra imports packages, infra and types from machines'
  }
  if (isPackage(to) || /^(machines|infra)\//.test(to) || service(to) === service(from)) return undefined
  return 'a service imports packages, itself, machines and infra'
}

describe('the import table', () => {
  const files = ['machines', 'infra', 'services'].flatMap(sources)
  const all = files.flatMap(importsOf)

  it('is kept by every file', () => {
    const broken = all.flatMap(one => (objection(one) ? [`${one.from} → ${one.to}: ${objection(one)}`] : []))
    expect(broken).to.deep.equal([])
  })

  it('is read from real imports', () => {
    expect(all.length).to.be.greaterThan(10)
  })

  it('is read from all of them: none names its target in a way that cannot be read here', () => {
    const hidden = /\bimport\(\s*[^'"\s]|\bimport\(\s*(['"])[^'"]*\1\s*\+|\bcreateRequire\b|\brequire\(/
    expect(files.filter(file => hidden.test(withoutComments(file)))).to.deep.equal([])
  })

  const forbidden: [string, string, boolean][] = [
    ['machines/otp.ts', 'node:crypto', false],
    ['machines/otp.ts', 'infra/clock.ts', true],
    ['infra/broker/topology.ts', 'machines/channels.ts', false],
    ['infra/log/log.ts', 'services/edge/router.ts', true],
    ['services/edge/send.ts', 'services/otp/actor.ts', true],
    ['services/otp/actor.ts', 'infra/store/mongo.ts', false],
    ['services/otp/actor.ts', 'infra/broker/amqp.frame.ts', false],
    ['infra/host.ts', 'infra/store/mongo.ts', false],
    ['infra/broker/dispatch.ts', 'infra/broker/amqp/link.ts', false],
    ['infra/broker/embedded/queue.ts', 'infra/broker/amqp/link.ts', false],
    ['services/edge/send.ts', 'services/main.ts', false],
    ['services/edge/send.ts', 'test/support/clock.ts', false],
  ]
  for (const [from, to, typeOnly] of forbidden)
    it(`refuses ${from} → ${to}`, () => expect(objection({ from, to, typeOnly })).to.be.a('string'))

  const fine: [string, string, boolean][] = [
    ['machines/otp.ts', 'xstate', false],
    ['infra/broker/topology.ts', 'machines/channels.ts', true],
    ['services/otp/actor.ts', 'infra/store/docs.ts', false],
    ['services/otp/actor.ts', 'services/otp/relay.ts', false],
    ['services/main.ts', 'infra/store/mongo.ts', false],
    ['infra/store/mongo.ts', 'infra/store/mongo/change.ts', false],
  ]
  for (const [from, to, typeOnly] of fine)
    it(`takes ${from} → ${to}`, () => expect(objection({ from, to, typeOnly })).to.equal(undefined))
})

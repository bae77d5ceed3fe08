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
    .filter(name => name.endsWith('.ts'))
    .map(name => join(folder, name))

/** Static imports, re-exports and `import()` alike. */
function importsOf(file: string): Import[] {
  const text = readFileSync(join(ROOT, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const statements = text.matchAll(
    /\b(import|export)\s+(type\s)?([^'"();=]*?from\s*)?['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]/g,
  )
  return [...statements].map(([, , type, , named, dynamic]) => {
    const target = named ?? dynamic ?? ''
    const to = target.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(file), target)) : target
    return { from: file, to, typeOnly: type !== undefined }
  })
}

const isPackage = (to: string): boolean => !/^(machines|infra|services|test|\.\.)(\/|$)/.test(to)
const service = (path: string): string | undefined => /^services\/([^/]+)\//.exec(path)?.[1]

/** Why an import may not be, or undefined when it may. */
function objection({ from, to, typeOnly }: Import): string | undefined {
  if (from.startsWith('machines/'))
    return /^(machines\/|xstate($|\/))/.test(to) ? undefined : 'machines import xstate and themselves, nothing else'
  if (to.startsWith('test/')) return 'product code never imports tests'
  if (from === 'services/main.ts') return undefined
  if (from.startsWith('infra/')) {
    if (to.startsWith('machines/')) return typeOnly ? undefined : 'infra imports only types from machines'
    return isPackage(to) || to.startsWith('infra/')
      ? undefined
      : 'infra imports packages, infra and types from machines'
  }
  if (ADAPTERS.test(to)) return 'only services/main.ts opens adapters'
  if (isPackage(to) || /^(machines|infra)\//.test(to) || service(to) === service(from)) return undefined
  return 'a service imports packages, itself, machines and infra'
}

describe('the import table', () => {
  const all = ['machines', 'infra', 'services'].flatMap(sources).flatMap(importsOf)

  it('is kept by every file', () => {
    const broken = all.flatMap(one => (objection(one) ? [`${one.from} → ${one.to}: ${objection(one)}`] : []))
    expect(broken).to.deep.equal([])
  })

  it('is read from real imports', () => {
    expect(all.length).to.be.greaterThan(10)
  })

  const forbidden: [string, string, boolean][] = [
    ['machines/otp.ts', 'node:crypto', false],
    ['machines/otp.ts', 'infra/clock.ts', true],
    ['infra/broker/topology.ts', 'machines/channels.ts', false],
    ['infra/log.ts', 'services/edge/router.ts', true],
    ['services/edge/send.ts', 'services/otp/actor.ts', true],
    ['services/otp/actor.ts', 'infra/store/mongo.ts', false],
    ['services/otp/actor.ts', 'infra/broker/amqp.frame.ts', false],
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
  ]
  for (const [from, to, typeOnly] of fine)
    it(`takes ${from} → ${to}`, () => expect(objection({ from, to, typeOnly })).to.equal(undefined))
})

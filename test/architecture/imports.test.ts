// Checks the table of allowed imports (architecture: Layout). It reads the sources, so it does not depend on a linter's settings.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect } from 'chai'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'

const ADAPTERS = /^infra\/(broker\/(amqp|embedded)|store\/(mongo|embedded))\b/

/** Beside the sources of a client its built package may stand. */
const CLIENTS = ['clients/typescript/src', 'clients/web']

interface Import {
  from: string
  /** A path inside the repo, or a package's name. */
  to: string
}

const sources = (folder: string): string[] =>
  readdirSync(join(PROJECT_ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.tsx?$/.test(name))
    .map(name => join(folder, name))

const withoutComments = (file: string): string =>
  readFileSync(join(PROJECT_ROOT, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')

/** Static imports, re-exports and `import()`. */
function importsOf(file: string): Import[] {
  const statements = withoutComments(file).matchAll(
    /\b(import|export)\s+(type\s)?([^'"();=]*?from\s*)?['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]/g,
  )
  return [...statements].map(([, , , , named, dynamic]) => {
    const target = named ?? dynamic ?? ''
    const to = target.startsWith('.') ? relative(PROJECT_ROOT, resolve(PROJECT_ROOT, dirname(file), target)) : target
    return { from: file, to }
  })
}

const isPackage = (to: string): boolean => !/^(machines|infra|services|clients|test|\.\.)(\/|$)/.test(to)
const adapter = (path: string): string | undefined => ADAPTERS.exec(path)?.[0]
const service = (path: string): string | undefined => /^services\/([^/]+)\//.exec(path)?.[1]

const isPageOfDashboard = (path: string): boolean => path.startsWith('services/dashboard/web/')

/** Why an import is forbidden, or undefined when it is allowed. */
function violationOf({ from, to }: Import): string | undefined {
  if (/^machines\/settings(\.values)?\.ts$/.test(from) && to === 'zod') return undefined
  if (from.startsWith('machines/'))
    return to.startsWith('machines/') || to === 'xstate' || to === 'infra/time.ts'
      ? undefined
      : 'machines import xstate, themselves and infra/time.ts, the settings zod, nothing else'
  if (to.startsWith('test/')) return 'product code never imports tests'
  if (from.startsWith('clients/'))
    return to.startsWith('clients/') ? undefined : 'clients import nothing but clients: users install them alone'
  if (to.startsWith('clients/'))
    return isPageOfDashboard(from) && to.startsWith('clients/typescript/src/')
      ? undefined
      : 'only the pages of the dashboard import a client: the TypeScript one'
  if (from === 'services/main.ts') return undefined
  // Also forbidden inside infra, because a service that imports that part of infra would import the adapter with it.
  if (adapter(to) && adapter(to) !== adapter(from)) return 'only services/main.ts opens adapters'
  if (from.startsWith('infra/'))
    return isPackage(to) || to.startsWith('infra/') ? undefined : 'infra imports packages and infra'
  if (service(from) === 'cli')
    return isPackage(to) || /^(infra|services\/cli)\//.test(to)
      ? undefined
      : 'the command line is a client of the admin API: packages, itself and infra'
  if (isPackage(to) || /^(machines|infra)\//.test(to) || service(to) === service(from)) return undefined
  if (service(from) === 'domain') return 'the domain imports packages, itself, machines and infra, never an actor'
  if (service(to) === 'domain') return undefined
  return 'an actor imports packages, itself, services/domain, machines and infra'
}

/** Groups of two or more that import each other, directly or not. Empty when no imports form a circle. */
function circles(arrows: readonly (readonly [string, string])[]): string[][] {
  const targets = new Map<string, Set<string>>()
  for (const [from, to] of arrows) {
    if (from === to) continue
    targets.set(from, (targets.get(from) ?? new Set()).add(to))
  }
  const reachable = (start: string): Set<string> => {
    const seen = new Set<string>()
    const waiting = [...(targets.get(start) ?? [])]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (seen.has(next)) continue
      seen.add(next)
      waiting.push(...(targets.get(next) ?? []))
    }
    return seen
  }
  const reached = new Map([...targets.keys()].map(from => [from, reachable(from)]))
  const inCircle = [...targets.keys()].filter(from => reached.get(from)?.has(from))
  const groups = inCircle.map(from =>
    inCircle.filter(other => reached.get(from)?.has(other) && reached.get(other)?.has(from)).sort(),
  )
  return [...new Map(groups.map(group => [group.join(), group])).values()]
}

/** The direct member of `folder` that a file belongs to: a subfolder, or the file itself. */
const memberOf = (folder: string, file: string): string | undefined =>
  file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split('/')[0] : undefined

describe('the table of allowed imports', () => {
  const files = ['machines', 'infra', 'services', ...CLIENTS].flatMap(sources)
  const all = files.flatMap(importsOf)

  it('is kept by every file', () => {
    expect(all.length).to.be.greaterThan(1_000)
    const broken = all.flatMap(one => (violationOf(one) ? [`${one.from} → ${one.to}: ${violationOf(one)}`] : []))
    expect(broken).to.deep.equal([])
  })

  it('has no circle of files', () => {
    const arrows = 'ab bc cb cd'.split(' ').map(([from = '', to = '']) => [from, to] as const)
    expect(circles(arrows), 'it finds one').to.deep.equal([['b', 'c']])
    expect(circles(all.map(({ from, to }) => [from, to]))).to.deep.equal([])
  })

  it('has no circle among the members of a folder', () => {
    const folders = [...new Set(files.map(dirname))].filter(folder => folder !== 'services')
    for (const folder of new Set([...folders, ...folders.map(dirname)])) {
      const arrows = all.flatMap(({ from, to }) => {
        const [source, target] = [memberOf(folder, from), memberOf(folder, to)]
        return source && target ? [[source, target] as const] : []
      })
      expect(circles(arrows), folder).to.deep.equal([])
    }
  })

  it('lets a process on embedded engines start without the drivers of MongoDB and RabbitMQ, which take memory', () => {
    const drivers =
      /\b(import|export)\s+(?!type\s)[^'"();=]*?from\s*['"](mongodb|amqplib|[^'"]*\/(store\/mongo|broker\/amqp)(\/[^'"]*)?\.ts)['"]/
    const adapters = /^infra\/(store\/mongo|broker\/amqp)(\.ts$|\/)/
    const loading = files.filter(file => !adapters.test(file) && drivers.test(withoutComments(file)))
    expect(loading).to.deep.equal([])
  })

  it('misses no import: none names its target in a way that this test cannot read', () => {
    const hidden = /\bimport\(\s*[^'"\s]|\bimport\(\s*(['"])[^'"]*\1\s*\+|\bcreateRequire\b|\brequire\(/
    expect(files.filter(file => hidden.test(withoutComments(file)))).to.deep.equal([])
  })

  it('refuses what the table does not allow', () => {
    const forbidden = `machines/otp.ts → node:crypto
      machines/otp.ts → infra/clock.ts
      machines/otp.ts → zod
      machines/settings.ts → node:util
      infra/broker/topology.ts → machines/channels.ts
      infra/log.ts → services/domain/collections.ts
      services/domain/money/accounts.ts → services/otp/calls/send.ts
      services/domain/collections.ts → infra/store/mongo.ts
      services/edge/send.ts → services/otp/actor.ts
      services/otp/actor.ts → infra/store/mongo.ts
      services/otp/actor.ts → infra/broker/amqp.frame.ts
      infra/host.ts → infra/store/mongo.ts
      infra/broker/embedded/shared-queue.ts → infra/broker/amqp/connection.ts
      services/edge/send.ts → services/main.ts
      services/cli/api.ts → services/domain/collections.ts
      services/cli/api.ts → machines/settings.ts
      services/dashboard/service.ts → services/cli/api.ts
      services/edge/send.ts → test/support/clock.ts
      services/edge/send.ts → clients/typescript/src/client.ts
      clients/typescript/src/client.ts → machines/otp.ts
      clients/typescript/src/client.ts → zod`
    for (const line of forbidden.split(/\n\s*/)) {
      const [from = '', to = ''] = line.split(' → ')
      expect(violationOf({ from, to }), line).to.be.a('string')
    }
  })
})

// The documentation names every setting, variable, provider type and dependency that exists, and no other. Its commands are complete and
// call what exists, and its links work.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { defaultOf, type Variable } from '../../infra/config/config.ts'
import { ROLE_SECRETS } from '../../infra/config/role-secrets.ts'
import { SECRET_VARIABLES } from '../../infra/config/variables.ts'
import { MAGIC_RECIPIENTS } from '../../machines/magic-recipients.ts'
import { ADMIN_API } from '../../services/dashboard/admin-api.ts'
import { resolveSettings } from '../../services/domain/tenancy/settings.ts'
import { duration } from '../../services/edge/docs/guides/limits.ts'
import { misplacedCollections } from './privacy-table.ts'
import { WRITTEN_PAGES } from './written-pages.ts'

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`),
]
const text = (path: string): string => readFileSync(path, 'utf8')
const all = (pattern: RegExp, within: string): string[] => [...within.matchAll(pattern)].map(match => match[1] ?? '')
const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort()

describe('the reference pages', () => {
  it('call only operations of the admin API that exist', () => {
    const called = pages.flatMap(page => {
      const commands = all(/```sh\n(.*?)```/gs, text(page)).flatMap(block => block.replaceAll('\\\n', ' ').split('\n'))
      return commands.flatMap(command => {
        const path = /localhost:\d+(\/admin\/v1\/[^\s'?]*)/.exec(command)?.[1]
        const method = / -X ([A-Z]+) /.exec(command)?.[1] ?? (/ (-d|--data-binary) /.test(command) ? 'POST' : 'GET')
        return path === undefined ? [] : [`${method} ${path}`]
      })
    })
    const routes = ADMIN_API.operations.map(
      ({ method, path }) => new RegExp(`^${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    )
    expect(called.length).to.be.greaterThan(20)
    expect(called.filter(call => !routes.some(route => route.test(call)))).to.deep.equal([])
  })

  it('list every endpoint of the client API; the README some of them', () => {
    const { paths } = JSON.parse(text('docs/openapi.json')) as { paths: Record<string, object> }
    const endpoints = Object.entries(paths)
      .filter(([path]) => path.startsWith('/api/v1/'))
      .flatMap(([path, methods]) =>
        Object.keys(methods).map(method => `${method.toUpperCase()} ${path.replace('/api/v1', '')}`),
      )
    const endpointsIn = (page: string): string[] => all(/^\| `((?:GET|POST) \/[^` ]+)/gm, text(page))
    expect(sorted(endpointsIn('docs/api.md'))).to.deep.equal(sorted(endpoints))
    expect(endpointsIn('README.md')).to.not.be.empty
    expect(endpoints).to.include.members(endpointsIn('README.md'))
  })

  for (const [page, written] of Object.entries(WRITTEN_PAGES))
    it(`follow from their declarations: ${page} (npm run openapi writes it)`, () =>
      expect(written(text(page))).to.equal(text(page)))

  it('have every setting with its default', () => {
    const rows = [...text('docs/settings.md').matchAll(/^\| `([a-z_.]+)` \| `([^`]+)` \|/gm)]
    const documented = Object.fromEntries(rows.map(([, path = '', value = '']) => [path, JSON.parse(value)]))
    expect(documented).to.deep.equal(Object.fromEntries(leaves(resolveSettings({}))))
  })

  it('say of each collection that keeps something of a recipient why, and how long', () =>
    expect(misplacedCollections()).to.deep.equal([]))

  it('list every variable of the environment with its default', () => {
    const page = text('docs/configuration.md')
    const tables = all(/\| Variable \| Default \|.*?\n\|[-|]+\n(.*?)\n\n/gs, page)
    const documented = tables
      .flatMap(table => table.split('\n'))
      .flatMap(row => {
        const [, names = '', value = ''] = row.split('|').map(cell => cell.trim())
        return all(/`([A-Z_]+)`/g, names).map(name => [name, value.replaceAll('`', '')])
      })
    const known = all(/^ {2}([A-Z][A-Z_]+): /gm, text('infra/config/config.ts'))
    const defaults = known.map(name => [name, shownDefault(name as Variable)])
    const twins = SECRET_VARIABLES.map(name => [`${name}_FILE`, 'none'])
    expect(known).to.not.be.empty
    expect(Object.fromEntries(documented)).to.deep.equal(Object.fromEntries([...defaults, ...twins]))
  })

  it('name the default waits between the attempts of a webhook', () => {
    const waits = (defaultOf('WEBHOOK_BACKOFF') as number[]).map(ms => duration(ms / 1000))
    expect(text('docs/webhooks.md')).to.contain(`after ${waits.slice(0, -1).join(', ')} and ${waits.at(-1)} (`)
  })

  it('say which secrets each role needs', () => {
    const [, header = '', body = ''] = /\| Role \|(.*?)\n\|[-|]+\n(.*?)\n\n/s.exec(text('docs/configuration.md')) ?? []
    const names = all(/`([A-Z_]+)`/g, header)
    const documented = body.split('\n').flatMap(row => {
      const [, roles = '', ...cells] = row.split('|').map(cell => cell.trim())
      const needed = names.filter((_, at) => cells[at] === 'needed')
      return all(/`([a-z:]+)`/g, roles).map(role => [role, sorted(needed)])
    })
    expect(Object.fromEntries(documented)).to.deep.equal(
      Object.fromEntries(Object.entries(ROLE_SECRETS).map(([role, secrets]) => [role, sorted(secrets)])),
    )
  })

  it('list every magic recipient', () => {
    const rows = [...text('docs/api.md').matchAll(/^\| `(\+\d+)` \| `([a-z-]+)` \| (?:`(\w+)`)?/gm)]
    expect(rows.map(([, ...cells]) => cells)).to.deep.equal(
      MAGIC_RECIPIENTS.map(([number, name, magic]) => [number, name, 'refuses' in magic ? magic.refuses : undefined]),
    )
  })

  it('justify every dependency', () => {
    const { dependencies, devDependencies } = JSON.parse(text('package.json'))
    const names = Object.keys({ ...dependencies, ...devDependencies }).filter(name => !name.startsWith('@types/'))
    const page = text('docs/dependencies.md')
    expect(names.filter(name => !page.includes(`\`${name}\``))).to.be.empty
  })

  it('have commands with a token or a session, and a content type', () => {
    const commands = pages
      .flatMap(page => all(/```sh\n(.*?)```/gs, text(page)))
      .flatMap(block => block.replaceAll('\\\n', ' ').split('\n'))
      .filter(line => /\bcurl /.test(line))
    expect(commands).to.not.be.empty
    for (const command of commands) {
      // Twilio's API has basic authentication, and takes forms.
      const isTwilio = command.includes('/compat/twilio/')
      expect(command).to.match(isTwilio ? / -u "\S+:\$\w+"/ : /-H "authorization: Bearer \$\w+"| -[bc] cookies /)
      if (!isTwilio && / (-d|--data-binary) /.test(command))
        expect(command).to.include("-H 'content-type: application/json'")
    }
  })

  it('name only files and folders that exist', () => {
    const named = pages.flatMap(page =>
      all(/`((?:machines|services|infra|clients|test|docs)\/[\w./-]+)`/g, text(page)).map(path => ({ page, path })),
    )
    expect(named.length).to.be.greaterThan(20)
    expect(named.filter(({ path }) => !existsSync(path))).to.deep.equal([])
  })

  it('list only folders that exist where they show the tree', () => {
    const [tree = ''] = all(/## Where things are\n\n```\n(.*?)```/gs, text('docs/architecture.md'))
    const listed: string[] = []
    // What stands at the beginning of a line is in the root, anything else in the folder above or in the one that was named last.
    let [top, folder] = ['', '']
    for (const [, before, name = ''] of tree.matchAll(/(^| )([\w-]+)\/(?=[\s,;:.])/gm)) {
      if (before === '') [top, folder] = [name, '']
      else if (existsSync(join(top, name))) folder = name
      listed.push(before === '' ? top : folder === name ? join(top, name) : join(top, folder, name))
    }
    expect(listed).to.include.members(['machines', 'services/otp', 'services/otp/calls', 'test/flow'])
    expect(listed.filter(path => !existsSync(path))).to.deep.equal([])
  })

  it('name only npm scripts that exist', () => {
    const { scripts } = JSON.parse(text('package.json'))
    const named = pages.flatMap(page => all(/\bnpm run (?:--silent )?([\w:]+)/g, text(page)))
    expect(named).to.not.be.empty
    expect(named.filter(name => !(name in scripts))).to.deep.equal([])
  })

  it('have links that lead to existing pages and headings', () => {
    const links = pages.flatMap(page => all(/\]\(([^)\s]+)\)/g, text(page)).map(link => ({ page, link })))
    const ours = links.filter(({ link }) => !link.startsWith('https://'))
    expect(ours).to.not.be.empty
    for (const { page, link } of ours) {
      const [path = '', anchor] = link.split('#')
      const headings = all(/^#+ (.+)$/gm, text(path === '' ? page : join(dirname(page), path)))
      if (anchor !== undefined) expect(headings.map(anchorOf), `${page}: ${link}`).to.include(anchor)
    }
  })
})

/** As the table shows it. The secrets without which nothing works are made in development. */
function shownDefault(name: Variable): string {
  if (Object.values(ROLE_SECRETS).some(secrets => secrets.some(secret => secret === name))) return 'made in development'
  const value = defaultOf(name)
  if (value === null) return 'off'
  return String(value ?? '') || 'none'
}

/** Each setting by its path. A list or an empty object is one setting. */
function leaves(settings: object, above = ''): [path: string, value: unknown][] {
  return Object.entries(settings).flatMap(([name, value]): [string, unknown][] => {
    const isGroup =
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
    return isGroup ? leaves(value, `${above}${name}.`) : [[`${above}${name}`, value]]
  })
}

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

// The documentation names every route, setting, variable, provider type and dependency that exists, and no other. Its commands are
// complete and its links work.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { ROLE_SECRETS } from '../../infra/config/role-secrets.ts'
import { SECRET_VARIABLES } from '../../infra/config/variables.ts'
import { resolveSettings } from '../../services/domain/tenancy/settings.ts'
import { providersPage } from './provider-pages.ts'

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
  it('name every route of the admin API', () => {
    const sources = readdirSync('services/dashboard', { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.ts') && name !== 'web-pages.ts' && !name.startsWith('web/'))
      .map(name => text(`services/dashboard/${name}`))
    const routes = sources.flatMap(source =>
      [...source.matchAll(/router\.(get|post|put|patch|delete)\('([^']+)'/g)].map(
        ([, method = '', path = '']) => `${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
      ),
    )
    const documented = all(/^\| `((?:GET|POST|PUT|PATCH|DELETE) \/[^`]*)` \|/gm, text('docs/admin-api.md'))
    expect(routes).to.not.be.empty
    expect(sorted(documented)).to.deep.equal(sorted(routes))
  })

  it('list every setting of an app with its default', () => {
    const rows = [...text('docs/settings.md').matchAll(/^\| `([a-z_.]+)` \| `([^`]+)` \|/gm)]
    const documented = Object.fromEntries(rows.map(([, path = '', value = '']) => [path, JSON.parse(value)]))
    expect(documented).to.deep.equal(Object.fromEntries(leaves(resolveSettings({}))))
  })

  it('name every variable of the environment', () => {
    const known = all(/^ {2}([A-Z][A-Z_]+): /gm, text('infra/config/config.ts'))
    const [, table = ''] = /\| Variable \|(.*?)\n\n/s.exec(text('README.md')) ?? []
    const documented = table.split('\n').flatMap(row => all(/`([A-Z_]+)`/g, row.split('|')[1] ?? ''))
    expect(known).to.not.be.empty
    const twins = SECRET_VARIABLES.map(name => `${name}_FILE`)
    expect(sorted(documented)).to.deep.equal(sorted([...known, ...twins]))
  })

  it('say which secrets each role needs', () => {
    const [, header = '', body = ''] = /\| Role \|(.*?)\n\|[-|]+\n(.*?)\n\n/s.exec(text('README.md')) ?? []
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

  it('describe the types of providers as they are declared: npm run docs writes it', () => {
    expect(text('docs/providers.md')).to.equal(providersPage())
  })

  it('justify every dependency', () => {
    const { dependencies, devDependencies } = JSON.parse(text('package.json'))
    const names = Object.keys({ ...dependencies, ...devDependencies }).filter(name => !name.startsWith('@types/'))
    const [, section = ''] = /## Dependencies\n(.*?)\n## /s.exec(text('README.md')) ?? []
    expect(names.filter(name => !section.includes(`\`${name}\``))).to.be.empty
  })

  it('have commands with a token or a session, and a content type', () => {
    const commands = pages
      .flatMap(page => all(/```sh\n(.*?)```/gs, text(page)))
      .flatMap(block => block.replaceAll('\\\n', ' ').split('\n'))
      .filter(line => /\bcurl /.test(line))
    expect(commands).to.not.be.empty
    for (const command of commands) {
      expect(command).to.match(/-H "authorization: Bearer \$\w+"| -[bc] cookies /)
      if (/ (-d|--data-binary) /.test(command)) expect(command).to.include("-H 'content-type: application/json'")
    }
  })

  it('name only files and folders that exist', () => {
    const named = pages.flatMap(page =>
      all(/`((?:machines|services|infra|test|docs)\/[\w./-]+)`/g, text(page)).map(path => ({ page, path })),
    )
    expect(named.length).to.be.greaterThan(20)
    expect(named.filter(({ path }) => !existsSync(path))).to.deep.equal([])
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

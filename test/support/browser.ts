// A real browser for tests of the dashboard: Chromium of the system, driven by playwright. In: a suite. Out: pages on a running Countersign,
// on every engine set of this run. Without Chromium the suite is skipped, and says so. Any error that a page reports, a violation of
// the Content-Security-Policy included, fails the test that opened it.
import { accessSync, constants, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import process from 'node:process'
import { expect } from 'chai'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { systemClock } from '../../infra/clock.ts'
import { createKeyring } from '../../infra/crypto/keyring.ts'
import { SESSION_COOKIE } from '../../services/dashboard/sign-in/cookie.ts'
import { createSessions } from '../../services/dashboard/sign-in/sessions.ts'
import type { UserDoc, UserRole } from '../../services/domain/users/documents.ts'
import { type Answer, ask } from './api-caller.ts'
import { type Countersign, createStarter, type StartCountersign } from './countersign.ts'
import { type EngineSet, onEachEngineSet } from './site.ts'
import { addUser } from './users.ts'

/** The shell without a window comes first: it takes half of the processor time. */
const PLACES = [
  process.env.CHROMIUM,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

const isExecutable = (file: string | undefined): file is string => {
  try {
    if (file) accessSync(file, constants.X_OK)
    return Boolean(file)
  } catch {
    return false
  }
}

/** Undefined where none is installed. */
const CHROMIUM = PLACES.find(isExecutable)

export interface PageOptions {
  /** Light by default. */
  theme?: 'light' | 'dark'
  /** Of a desktop by default. */
  size?: 'desktop' | 'phone'
}

export interface Viewer {
  countersign: Countersign
  page: Page
  context: BrowserContext
  /** Calls the admin API with the operator's token; `path` follows /admin/v1. */
  admin(method: string, path: string, body?: unknown): Promise<Answer>
}

export interface OpenDashboard {
  /** A page without a session, which has opened no address yet. */
  stranger(countersign: Countersign, options?: PageOptions): Promise<Viewer>
  /** A page of a signed-in operator, which has opened no address yet. */
  operator(countersign: Countersign, options?: PageOptions): Promise<Viewer>
  /** A page of a new user of the company. */
  user(
    countersign: Countersign,
    company: string,
    role: UserRole,
    options?: PageOptions,
  ): Promise<Viewer & { user: UserDoc }>
}

export const SIZES = { desktop: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } }

type Look = Required<PageOptions>

const SIZE_NAMES = ['desktop', 'phone'] as const
const THEMES = ['light', 'dark'] as const

export const EVERY_LOOK: readonly Look[] = SIZE_NAMES.flatMap(size => THEMES.map(theme => ({ theme, size })))

/** Both themes and both sizes in two runs: colours do not depend on the size, and places not on the theme. */
export const LOOKS: readonly Look[] = [
  { theme: 'light', size: 'desktop' },
  { theme: 'dark', size: 'phone' },
]

type BrowserSuite = (open: OpenDashboard, start: StartCountersign, engines: EngineSet) => void

/** Runs a suite in a browser on every engine set of this run: what a page does with the client API, the queues, sessions and webhooks. The
 *  admin API beneath the other screens runs on every engine set in test/services/dashboard. */
export const describeInBrowser = (title: string, suite: BrowserSuite): void =>
  onEachEngineSet(title, engines => inBrowser(engines, suite))

/** Runs a suite in a browser on the embedded engines, where the engines make no difference to what is looked at. */
export const describeInBrowserOnce = (title: string, suite: BrowserSuite): void =>
  void describe(title, () => inBrowser('embedded', suite))

function inBrowser(engines: EngineSet, suite: BrowserSuite): void {
  if (CHROMIUM === undefined) {
    it('needs a browser: install Chromium, or name one with CHROMIUM')
    return
  }
  let browser: Browser
  const contexts: BrowserContext[] = []
  const errors: string[] = []
  before(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
  })
  // Before the process stops, because an open page keeps its connections.
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map(context => context.close()))
    expect(errors.splice(0), 'errors in the page').to.deep.equal([])
  })
  after(() => browser?.close())

  async function stranger(countersign: Countersign, { theme = 'light', size = 'desktop' }: PageOptions = {}) {
    const context = await browser.newContext({
      baseURL: countersign.url,
      viewport: SIZES[size],
      colorScheme: theme,
      reducedMotion: 'reduce',
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
    })
    contexts.push(context)
    context.setDefaultTimeout(30_000)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const page = await context.newPage()
    page.on('pageerror', error => errors.push(String(error)))
    page.on('console', message => {
      // A refused call is an answer like any other; the browser reports it as an error of its own.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        errors.push(message.text())
    })
    const token = countersign.secrets.adminTokens[0]?.token ?? ''
    const admin: Viewer['admin'] = (method, path, body) =>
      ask(`${countersign.url}/admin/v1${path}`, {
        method,
        headers: { Authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    return { countersign, page, context, admin }
  }

  const open: OpenDashboard = {
    stranger,
    async operator(countersign, options) {
      const viewer = await stranger(countersign, options)
      const data = { token: countersign.secrets.adminTokens[0]?.token }
      const answer = await viewer.context.request.post('/admin/v1/sign-in', { data })
      expect(answer.status()).to.equal(200)
      return viewer
    },
    async user(countersign, company, role, options) {
      const viewer = await stranger(countersign, options)
      const {
        secrets,
        engines: { store },
      } = countersign
      const keyring = createKeyring({ dataKeys: secrets.data, codeSecrets: secrets.code })
      const user = await addUser(store, company, role, keyring)
      const sessions = createSessions({ store, keyring, clock: systemClock, operators: secrets.adminTokens })
      const { session, token } = sessions.create({ user }, 'test')
      await sessions.insert(session)
      const { hostname } = new URL(countersign.url)
      await viewer.context.addCookies([
        { name: SESSION_COOKIE, value: token, domain: hostname, path: '/admin/v1', httpOnly: true, sameSite: 'Strict' },
      ])
      return { ...viewer, user }
    },
  }
  suite(open, createStarter(engines), engines)
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeViolation {
  id: string
  impact: string | null
  nodes: { target: unknown; failureSummary?: string }[]
}

/** Fails when axe finds a serious or critical violation on the page as it is now. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(AXE)
  const violations: AxeViolation[] = await page.evaluate(
    // biome-ignore lint/suspicious/noExplicitAny: axe is in the page only
    async () => (await (globalThis as any).axe.run()).violations,
  )
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  const told = serious.flatMap(({ id, nodes }) => nodes.map(node => `${id}: ${node.target} ${node.failureSummary}`))
  expect(told, `on ${page.url()}`).to.deep.equal([])
}

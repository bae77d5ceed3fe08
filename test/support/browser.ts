// A real browser for tests of the dashboard: Chromium of the system, driven by playwright. In: a suite. Out: pages on a
// running Countersign, which the tests of a file share: each makes a company of its own there. Without Chromium the suite
// is skipped, and says so. Any error that a page reports, a violation of the Content-Security-Policy included, fails the
// test that opened it.
import { accessSync, constants, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import process from 'node:process'
import { expect } from 'chai'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { systemClock } from '../../infra/clock.ts'
import { createKeyring } from '../../infra/crypto/keyring.ts'
import type { KeyKind } from '../../machines/otp.ts'
import { createCookies } from '../../services/dashboard/sign-in/cookie.ts'
import { createSessions } from '../../services/dashboard/sign-in/sessions.ts'
import type { UserDoc, UserRole } from '../../services/domain/users/documents.ts'
import { afterFile, keepOpen } from './after-each-file.ts'
import { type Answer, ask } from './api-caller.ts'
import type { TestClock } from './clock.ts'
import {
  type Countersign,
  createStarter,
  type StartCountersign,
  type StartOptions,
  startCountersign,
} from './countersign.ts'
import { csvItems } from './csv.ts'
import { eventually } from './eventually.ts'
import { createRunningClock } from './running-clock.ts'
import { freshSite } from './site.ts'
import { addUser, testGrants } from './users.ts'

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

/** Without a graphics card, and with one process for all pages of an origin: both take less processor time. */
const FLAGS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-software-rasterizer',
  '--process-per-site',
]

export interface PageOptions {
  /** Light by default. */
  theme?: 'light' | 'dark'
  /** Of a desktop by default. */
  size?: 'desktop' | 'phone'
  /** True where the test moves the page's clock, which its context cannot get back. */
  movesClock?: boolean
  /** True where the browser is to refuse what a page tries, which it reports as errors. */
  reportsRefusals?: boolean
}

export interface Viewer {
  countersign: Countersign
  page: Page
  context: BrowserContext
  /** Calls the admin API with the operator's token; `path` follows /admin/v1. */
  admin(method: string, path: string, body?: unknown): Promise<Answer>
}

/** A viewer of a company that no other test uses, as a first start makes one: "Demo", with one app "Demo" and its two test keys. */
export interface ShopViewer extends Viewer {
  company: string
  app: string
  /** Of the shared Countersign. It runs, and a test can set it forward. */
  clock: TestClock
  /** With which a backend calls. */
  serverKey: string
  /** With which a device calls. */
  publishableKey: string
}

export interface OpenDashboard {
  /** The Countersign that the tests of a file share, one for each bootstrap. */
  shared(options?: SharedOptions): Promise<Countersign>
  /** A page of a signed-in operator who has last looked at the app of a new company, on the shared Countersign. */
  shop(options?: PageOptions): Promise<ShopViewer>
  /** A page of a new user of a new company, on the shared Countersign. */
  member(role: UserRole, options?: PageOptions): Promise<ShopViewer & { user: UserDoc }>
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

type Look = Required<Pick<PageOptions, 'theme' | 'size'>>

const SIZE_NAMES = ['desktop', 'phone'] as const
const THEMES = ['light', 'dark'] as const

export const EVERY_LOOK: readonly Look[] = SIZE_NAMES.flatMap(size => THEMES.map(theme => ({ theme, size })))

/** Both themes and both sizes in two runs: colours do not depend on the size, and places not on the theme. */
export const LOOKS: readonly Look[] = [
  { theme: 'light', size: 'desktop' },
  { theme: 'dark', size: 'phone' },
]

/** `start` is for what changes a whole deployment: its first start, an outage, its environment, all companies, the console. */
type BrowserSuite = (open: OpenDashboard, start: StartCountersign) => void

type SharedOptions = Pick<StartOptions, 'bootstrap'>

/** Of a shared Countersign: endpoints and gateways of tests are on loopback, and what fails there is soon tried again. */
const SHARED_ENV = { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8', CHANNEL_BACKOFF: '200', WEBHOOK_BACKOFF: '200,400' }

/** Runs a suite in a browser, on the embedded engines: what pages ask for is tested on every engine set elsewhere. */
export const describeInBrowser = (title: string, suite: BrowserSuite): void =>
  void describe(title, () => inBrowser(suite))

function inBrowser(suite: BrowserSuite): void {
  if (CHROMIUM === undefined) {
    it('needs a browser: install Chromium, or name one with CHROMIUM')
    return
  }
  const { lend, takeBack } = createContexts()
  const errors: string[] = []
  // Before the process stops, because an open page keeps its connections.
  afterEach(takeBack)

  async function stranger(countersign: Countersign, look: PageOptions = {}): Promise<Viewer> {
    const { theme = 'light', size = 'desktop', reportsRefusals = false } = look
    const context = await lend(countersign.url, look)
    const page = await context.newPage()
    if (size !== 'desktop') await page.setViewportSize(SIZES[size])
    if (theme !== 'light') await page.emulateMedia({ colorScheme: theme })
    page.on('pageerror', error => errors.push(String(error)))
    page.on('console', message => {
      // A refused call is an answer like any other; the browser reports it as an error of its own.
      const isRefusal = reportsRefusals || message.text().startsWith('Failed to load resource')
      if (message.type() === 'error' && !isRefusal) errors.push(message.text())
    })
    return { countersign, page, context, admin: adminOf(countersign) }
  }

  const open: OpenDashboard = {
    shared: sharedCountersign,
    stranger,
    async shop(look) {
      const viewer = await open.operator(await open.shared(), look)
      const shop = await createShop(viewer)
      const [anchor] = viewer.context.pages()
      const { company, app } = shop
      await anchor?.evaluate(
        // biome-ignore lint/suspicious/noExplicitAny: the storage is in the page only
        last => Object.assign((globalThis as any).localStorage, last),
        { company, app },
      )
      return { ...viewer, ...shop }
    },
    async member(role, look) {
      const countersign = await open.shared()
      const shop = await createShop({ admin: adminOf(countersign) })
      return { ...(await open.user(countersign, shop.company, role, look)), ...shop }
    },
    async operator(countersign, look) {
      const viewer = await stranger(countersign, look)
      const data = { token: countersign.secrets.adminTokens[0]?.token }
      const answer = await viewer.context.request.post('/admin/v1/sign-in', { data })
      expect(answer.status()).to.equal(200)
      return viewer
    },
    async user(countersign, company, role, look) {
      const viewer = await stranger(countersign, look)
      const {
        secrets,
        engines: { store },
      } = countersign
      const keyring = createKeyring({ dataKeys: secrets.data, codeSecrets: secrets.code })
      const user = await addUser(store, company, role, keyring)
      const sessions = createSessions({
        store,
        keyring,
        grants: testGrants(keyring),
        clock: systemClock,
        operators: secrets.adminTokens,
      })
      const { session, token } = sessions.create({ user }, 'test')
      await sessions.insert(session)
      const { hostname } = new URL(countersign.url)
      const secure = countersign.config.http.publicUrl?.startsWith('https:') ?? false
      const { name, path } = createCookies({ secure }).session
      await viewer.context.addCookies([
        { name, path, secure, value: token, domain: hostname, httpOnly: true, sameSite: 'Strict' },
      ])
      return { ...viewer, user }
    },
  }
  suite(open, startOnOnePort(createStarter('embedded'), ownPort))
  // After the hooks that stop what a test has started: a hook that fails keeps the later ones from running.
  afterEach(() => expect(errors.splice(0), 'errors in the page').to.deep.equal([]))
}

/** Contexts of the browser by the address for which they are, those that no test uses. */
const idle = new Map<string, { context: BrowserContext; anchor: Page }[]>()

/** Lends contexts to the tests of a suite. They are emptied and used again, because a context that has loaded the page before has its files
 *  compiled; in each, a small page of the same origin stays open, which keeps the process of its pages alive. */
function createContexts() {
  const lent: { url: string; context: BrowserContext; anchor: Page; isSpent: boolean }[] = []

  async function lend(url: string, { movesClock = false }: PageOptions): Promise<BrowserContext> {
    const warm = idle.get(url)?.pop() ?? (await openContext(url))
    lent.push({ url, ...warm, isSpent: movesClock })
    return warm.context
  }

  async function takeBack(): Promise<void> {
    for (const { url, context, anchor, isSpent } of lent.splice(0)) {
      if (isSpent) {
        await context.close()
        continue
      }
      await Promise.all(context.pages().map(page => page !== anchor && page.close()))
      await context.clearCookies()
      await anchor.evaluate('localStorage.clear()')
      idle.set(url, [...(idle.get(url) ?? []), { context, anchor }])
    }
  }
  return { lend, takeBack }
}

let browser: Browser | undefined

async function openContext(url: string): Promise<{ context: BrowserContext; anchor: Page }> {
  browser ??= await keepOpen(() => chromium.launch({ executablePath: CHROMIUM ?? '', args: FLAGS }))
  const context = await browser.newContext({
    baseURL: url,
    viewport: SIZES.desktop,
    colorScheme: 'light',
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  })
  context.setDefaultTimeout(30_000)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const anchor = await context.newPage()
  await anchor.goto('/docs-assets/favicon.svg')
  return { context, anchor }
}

const adminOf =
  ({ url, secrets }: Countersign): Viewer['admin'] =>
  (method, path, body) =>
    ask(`${url}/admin/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${secrets.adminTokens[0]?.token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })

async function createShop({ admin }: Pick<Viewer, 'admin'>): Promise<Omit<ShopViewer, keyof Viewer>> {
  const create = async (path: string, body: object): Promise<Answer['body']> => {
    const answer = await admin('POST', path, body)
    expect(answer.status, answer.text).to.equal(201)
    return answer.body
  }
  const company = (await create('/companies', { name: 'Demo' })).id
  const app = (await create(`/companies/${company}/apps`, { name: 'Demo' })).id
  const keyOf = async (kind: KeyKind) => (await create(`/apps/${app}/keys`, { kind, mode: 'test' })).key
  return { company, app, clock, serverKey: await keyOf('server'), publishableKey: await keyOf('publishable') }
}

interface Port {
  number: number
}

/** Outside the range from which the system gives ports to others while a test's process has just stopped. */
const sharedPort: Port = { number: 20_000 + (process.pid % 5_000) }
const ownPort: Port = { number: 25_000 + (process.pid % 5_000) }

/** Starts every process on the same port, so that the pages of all tests have one origin and the browser knows their
 *  files. In PUBLIC_URL that port is written as `:PORT`. */
const startOnOnePort =
  (start: StartCountersign, port: Port): StartCountersign =>
  async (options = {}) => {
    for (;;)
      try {
        const PUBLIC_URL = options.env?.PUBLIC_URL?.replace(':PORT', `:${port.number}`)
        const env = { ...options.env, PORT: String(port.number), ...(PUBLIC_URL ? { PUBLIC_URL } : {}) }
        return await start({ ...options, env })
      } catch (error) {
        if ((error as { cause?: NodeJS.ErrnoException }).cause?.code !== 'EADDRINUSE') throw error
        port.number += 1
      }
  }

const clock = createRunningClock()
const running = new Map<string, Promise<Countersign>>()

/** Starts with the first test of a file that asks for it, and stops after the last one. */
function sharedCountersign(options: SharedOptions = {}): Promise<Countersign> {
  const key = JSON.stringify(options)
  const known = running.get(key)
  if (known) return known
  const start = async (): Promise<Countersign> => {
    const site = await freshSite('embedded', SHARED_ENV)
    const startShared: StartCountersign = more => startCountersign({ ...more, engines: 'embedded', site, clock })
    return startOnOnePort(startShared, sharedPort)({ ...options, env: SHARED_ENV })
  }
  const starting = start()
  running.set(key, starting)
  afterFile(async () => {
    running.delete(key)
    const countersign = await starting
    await countersign.stop()
    await countersign.site.wipe()
  })
  return starting
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Rule = Pick<AxeViolation, 'id' | 'impact'>

interface AxeViolation {
  id: string
  impact: string | null
  nodes: { target: unknown; failureSummary?: string }[]
}

/** The newest code that the sandbox has for the recipient, once it has so many messages. */
export const newestCode = ({ admin }: Pick<Viewer, 'admin'>, recipient: string, messages = 1): Promise<string> =>
  eventually(async () => {
    const { body } = await admin('GET', `/sandbox/messages?recipient=${encodeURIComponent(recipient)}`)
    expect(body).to.have.length(messages)
    return body[0].code
  })

/** Presses "Export CSV" or "Next file". Answers the file that the browser has saved, which Excel takes for UTF-8. */
export async function exportCsv(
  page: Page,
  button: 'Export CSV' | 'Next file' = 'Export CSV',
): Promise<{ name: string; items: Record<string, string>[] }> {
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: button }).click()
  const download = await saved
  const text = readFileSync(await download.path(), 'utf8')
  expect(text.at(0)).to.equal('\ufeff')
  return { name: download.suggestedFilename(), items: csvItems(text.slice(1)) }
}

/** Presses "Save" on a screen of settings, and waits until nothing is left to save. */
export async function saveSettings(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved. Every process uses it within 5 seconds.').last().waitFor()
  await page.getByRole('region', { name: 'Unsaved changes' }).waitFor({ state: 'detached' })
}

/** Makes every session as old as one that has to prove again whose it is. */
export async function forgetProof({ countersign: { engines, secrets } }: Viewer): Promise<void> {
  const grants = testGrants(createKeyring({ dataKeys: secrets.data, codeSecrets: secrets.code }))
  const sessions = engines.store.docs('sessions')
  for (const session of await sessions.find({}, { sort: { _id: 1 }, limit: 100 })) {
    const { mac } = grants.stamp('sessions', { ...session, stepped_up_at: 1 })
    await sessions.modify({ _id: session._id }, { $set: { stepped_up_at: 1, mac } })
  }
}

/** Fails when axe finds a serious or critical violation on the page as it is now, or when it scrolls sideways. Of a page with an open dialog
 *  axe looks at the dialog: the page behind it cannot be used, and its tests look at it when the dialog is closed. */
export async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(AXE)
  const violations: AxeViolation[] = await page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: axe and the document are in the page only
    const { axe, document } = globalThis as any
    // Rules whose violations would not fail are not tried: they take half of the time.
    const ignored = axe._audit.rules.filter(({ impact }: Rule) => impact === 'minor' || impact === 'moderate')
    const rules = Object.fromEntries(ignored.map(({ id }: Rule) => [id, { enabled: false }]))
    const options = { resultTypes: ['violations'], iframes: false, preload: false, rules }
    return (await axe.run(document.querySelector('dialog:modal') ?? document, options)).violations
  })
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  const told = serious.flatMap(({ id, nodes }) => nodes.map(node => `${id}: ${node.target} ${node.failureSummary}`))
  expect(told, `on ${page.url()}`).to.deep.equal([])
  const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
  expect(overflow, `${page.url()} scrolls sideways`).to.be.at.most(0)
}

/** The same in each of the looks. In: a page that looks as one does by default, and does again afterwards. */
export async function expectAccessibleInEveryLook(page: Page): Promise<void> {
  for (const { theme, size } of LOOKS.toReversed()) {
    await page.emulateMedia({ colorScheme: theme })
    await page.setViewportSize(SIZES[size])
    await expectAccessible(page)
  }
}

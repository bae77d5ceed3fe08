// <countersign-verify> in a real browser, in a page of another origin than the service, under a strict Content-Security-Policy.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import type { Page, Route } from 'playwright-core'
import { readBuiltSite } from '../../infra/web/built-site.ts'
import {
  describeInBrowser,
  expectAccessible,
  newestCode,
  type PageOptions,
  type ShopViewer,
} from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { CACHE_TTL_MS, freshNumber, wrongCode } from '../support/flow.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const LINK_MODE = {
  routing: { default: ['whatsapp'] },
  channels: { whatsapp: { enabled: true, mode: 'link_code', business_number: '+15550001111' } },
}
const NO_COOLDOWN = { resend_cooldown_seconds: [0] }
const CHALLENGED = { publishable_challenge: 'always' }

/** What the tests use of an element in the page. */
interface Element {
  checkValidity(): boolean
  closest(selector: string): { dir: string }
  setAttribute(name: string, value: string): void
}

/** A page that is dark where its visitor wants it. */
const STYLE =
  ':root { color-scheme: light dark } body { font-family: sans-serif; color: CanvasText; background: Canvas }'

interface Visit extends PageOptions {
  lang?: string
  /** Of the app. */
  settings?: object
}

/** The vendors of widgets: the name of their dialog, their script, and what a page's policy must allow (docs/challenges.md). */
const VENDORS = {
  turnstile: {
    name: 'Turnstile',
    script: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
    policy: { script: 'https://challenges.cloudflare.com', style: '' },
  },
  hcaptcha: {
    name: 'hCaptcha',
    script: 'https://js.hcaptcha.com/1/api.js',
    policy: {
      script: 'https://hcaptcha.com https://*.hcaptcha.com',
      style: 'https://hcaptcha.com https://*.hcaptcha.com',
    },
  },
}
type Vendor = keyof typeof VENDORS
const VENDOR_SECRET = '0x4AAAAAAA-the-secret-of-the-widget'

/** Stands in for a vendor's script: its widget is a button that names the site key, and each press is a new token, which counts once. */
const vendorScript = (vendor: Vendor, token: string): string => `
  let tokens = 0
  window.${vendor} = {
    render(place, { sitekey, callback }) {
      const button = document.createElement('button')
      button.type = 'button'
      button.textContent = 'A person at ' + sitekey
      button.onclick = () => callback('${token}-' + ++tokens)
      place.append(button)
      return button
    },
    remove: widget => widget.remove(),
  }
  window[new URL(document.currentScript.src).searchParams.get('onload')]()`

describeInBrowser('<countersign-verify> in a page of another origin', open => {
  const policy = (service: string, vendor: string | null): string => {
    const { script, style } = VENDORS[vendor as Vendor]?.policy ?? { script: '', style: '' }
    const attributes = vendor === null ? '' : "; style-src-attr 'unsafe-inline'"
    return `default-src 'none'; script-src ${service} ${script}; connect-src ${service}; style-src 'self' ${style}${attributes}`
  }
  const site = createServer((request, response) => {
    if (request.url === '/page.css') return void response.setHeader('Content-Type', 'text/css').end(STYLE)
    const { searchParams } = new URL(request.url ?? '', 'http://localhost')
    const service = searchParams.get('service') ?? ''
    const script = readBuiltSite('element')?.get('/element.js')?.plain ?? ''
    const integrity = `sha384-${createHash('sha384').update(script).digest('base64')}`
    response.setHeader('Content-Security-Policy', policy(service, searchParams.get('vendor')))
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    response.end(`<!doctype html><html lang="${searchParams.get('lang')}"><title>Shop</title>
<link rel="stylesheet" href="/page.css"><meta name="viewport" content="width=device-width">
<main><h1>Shop</h1><form><countersign-verify name="token" required publishable-key="${searchParams.get('key')}">
</countersign-verify></form></main>
<script type="module" src="${service}/element.js" integrity="${integrity}" crossorigin></script></html>`)
  })
  before(() => new Promise<void>(resolve => site.listen(0, resolve)))
  after(() => {
    site.closeAllConnections()
    site.close()
  })

  let number: string
  const masked = () => `+1****${number.slice(-2)}`
  beforeEach(() => {
    number = freshNumber()
  })

  async function visit({ lang, settings, ...options }: Visit = {}): Promise<ShopViewer> {
    const viewer = await open.shop(options)
    if (settings) {
      const changed = await viewer.admin('PATCH', `/apps/${viewer.app}`, { settings })
      expect(changed.status, changed.text).to.equal(200)
    }
    if (options.movesClock) await viewer.page.clock.install()
    await goTo(viewer, { lang })
    return viewer
  }

  const origin = (): string => `http://localhost:${(site.address() as AddressInfo).port}`

  async function goTo(
    { page, countersign, publishableKey }: Pick<ShopViewer, 'page' | 'countersign' | 'publishableKey'>,
    { lang = 'en', ...more }: { lang?: string | undefined; vendor?: Vendor } = {},
  ): Promise<void> {
    const query = new URLSearchParams({ service: countersign.url, key: publishableKey, lang, ...more })
    await page.goto(`${origin()}/?${query}`)
    await page.evaluate(() => {
      // biome-ignore lint/suspicious/noExplicitAny: the document is in the page only
      const global = globalThis as any
      global.verified = []
      global.document.addEventListener('verified', (event: { detail: unknown }) => global.verified.push(event.detail))
      const { fetch } = global
      global.calls = []
      global.fetch = (url: string, ...rest: unknown[]) => {
        global.calls.push(new URL(url).pathname)
        return fetch(url, ...rest)
      }
      // WebOTP: what a phone does when its user allows the page to read a message.
      global.OTPCredential ??= class {}
      global.navigator.credentials.get = ({ signal }: { signal: AbortSignal }) =>
        new Promise((resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
          global.receive = (code: string) => resolve({ code })
        })
      global.element = global.document.querySelector('countersign-verify')
    })
  }

  const callsOf = (page: Page): Promise<string[]> => page.evaluate('calls')

  const codeFor = (viewer: ShopViewer, messages = 1): Promise<string> => newestCode(viewer, number, messages)

  const send = async (page: Page): Promise<void> => {
    await page.getByLabel('Phone number or email').fill(`+1 (415) 556-${number.slice(-4)}`)
    await page.getByRole('button', { name: 'Send code' }).click()
    await page.getByLabel('Code', { exact: true }).waitFor()
  }

  const enter = async (page: Page, code: string): Promise<void> => {
    await page.getByLabel('Code', { exact: true }).fill(code)
    await page.getByRole('button', { name: 'Verify' }).click()
  }

  /** What the page got: the details of its events, and what its form would send. */
  const result = (page: Page): Promise<{ verified: { verification_token: string; otp_id: string }[]; token: string }> =>
    page.evaluate(() => {
      // biome-ignore lint/suspicious/noExplicitAny: the document is in the page only
      const { verified, document, FormData } = globalThis as any
      return { verified, token: new FormData(document.forms[0]).get('token') }
    })

  const expectVerified = async (page: Page): Promise<void> => {
    await page.getByText('Verified', { exact: true }).waitFor()
    const { verified, token } = await result(page)
    expect(verified.map(detail => detail.verification_token)).to.deep.equal([token])
    expect(token).to.match(/^otp_vt_/)
  }

  const expectFocusInCode = async (page: Page): Promise<void> => {
    await page.keyboard.type('1')
    expect(await page.getByLabel('Code', { exact: true }).inputValue()).to.equal('1')
  }

  it('gets a token that proves the recipient, and is valid in its form only then', async () => {
    const viewer = await visit()
    const { page, countersign, serverKey } = viewer
    const isValid = () => page.locator('main > form').evaluate(form => (form as unknown as Element).checkValidity())
    expect(await isValid()).to.equal(false)
    await page.evaluate(`element.setAttribute('recipient', '${number}')`)
    await send(page)
    await page.getByText(masked()).waitFor()
    const code = await codeFor(viewer)
    await enter(page, code)
    await expectVerified(page)
    expect(await isValid()).to.equal(true)
    // Neither a message that arrives late nor the same recipient once more takes the token away.
    const calls = await callsOf(page)
    await page.evaluate(`receive('${code}'); element.setAttribute('recipient', '${number}')`)
    expect(await callsOf(page)).to.deep.equal(calls)
    await expectVerified(page)
    const { token } = await result(page)
    const exchanged = await fetch(`${countersign.url}/api/v1/verifications/exchange`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${serverKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ verification_token: token }),
    })
    expect(await exchanged.json()).to.include({ recipient: number })
  })

  it('says that a code is wrong and how many attempts are left, and begins again when none is or it has expired', async () => {
    const viewer = await visit()
    await send(viewer.page)
    const code = await codeFor(viewer)
    for (const left of [4, 3, 2, 1]) {
      await enter(viewer.page, wrongCode(code))
      await viewer.page.getByText(`Wrong code. Attempts left: ${left}`).waitFor()
    }
    await enter(viewer.page, wrongCode(code))
    await viewer.page.getByText('The code is no longer valid.').waitFor()
    // So it does when the code has expired.
    await viewer.clock.advance(30_000)
    await send(viewer.page)
    const next = await codeFor(viewer, 2)
    await viewer.clock.advance(601_000)
    await enter(viewer.page, next)
    await viewer.page.getByText('The code is no longer valid.').waitFor()
    await viewer.page.getByRole('button', { name: 'Send code' }).waitFor()
  })

  it('counts the cooldown down, then sends on the next channel', async () => {
    const viewer = await visit({ movesClock: true })
    const { page } = viewer
    await send(page)
    await page.getByText('(SMS)').waitFor()
    const again = page.getByRole('button', { name: 'Send again' })
    expect(await again.isDisabled()).to.equal(true)
    expect(await again.textContent()).to.match(/^Send again \(0:(30|2\d)\)$/)
    // Also in an element that is moved, or taken out and put back.
    await page.evaluate('document.body.append(element); element.remove(); document.forms[0].append(element)')
    await viewer.clock.advance(30_000)
    await page.clock.fastForward(31_000)
    await page.getByRole('button', { name: 'Send again', exact: true, disabled: false }).click()
    await page.getByText('(WhatsApp)').waitFor()
    await enter(page, await codeFor(viewer, 2))
    await expectVerified(page)
  })

  it('goes on with its send when it is moved, and still receives the message', async () => {
    const viewer = await visit()
    const { page } = viewer
    await page.getByLabel('Phone number or email').fill(number)
    await page.evaluate('document.body.append(element)')
    await page.getByRole('button', { name: 'Send code' }).click()
    await page.evaluate('document.forms[0].append(element)')
    await page.getByLabel('Code', { exact: true }).waitFor()
    expect((await callsOf(page)).filter(path => path.endsWith('/send'))).to.have.length(1)
    await page.evaluate('document.forms[0].after(element); document.forms[0].append(element)')
    await page.evaluate(`receive('${await codeFor(viewer)}')`)
    await expectVerified(page)
  })

  it('begins again if it is taken out before the step of the code is shown', async () => {
    const { page } = await visit()
    // The answer to the send comes, that to the question for the cooldown does not.
    await page.route('**/api/v1/otp/otp_*', () => {})
    const asked = page.waitForRequest('**/api/v1/otp/otp_*')
    await page.getByLabel('Phone number or email').fill(number)
    await page.getByRole('button', { name: 'Send code' }).click()
    await asked
    await page.evaluate('element.remove(); document.forms[0].append(element)')
    expect(await page.getByLabel('Phone number or email').inputValue()).to.equal('')
    await page.unroute('**/api/v1/otp/otp_*')
    // A refusal marks the field of this step.
    await page.getByLabel('Phone number or email').fill('+1')
    await page.getByRole('button', { name: 'Send code' }).click()
    await page.getByRole('alert').getByText('Not a valid phone number or email.').waitFor()
    await eventually(async () =>
      expect(await page.getByLabel('Phone number or email').getAttribute('aria-invalid')).to.equal('true'),
    )
  })

  it('offers to send again when it cannot know the cooldown, and learns it from the answer', async () => {
    const { page } = await visit()
    const headers = { 'Access-Control-Allow-Origin': '*' }
    await page.route('**/api/v1/otp/otp_*', route => route.fulfill({ status: 404, headers, json: {} }))
    await send(page)
    await page.getByRole('button', { name: 'Send again', exact: true, disabled: false }).click()
    await page.getByRole('button', { name: /^Send again \(0:\d\d\)$/, disabled: true }).waitFor()
    await expectFocusInCode(page)
  })

  it('says that it cannot send again, leaves the focus in the field of the code, and takes the one that was sent', async () => {
    const viewer = await visit({ settings: NO_COOLDOWN })
    const { page } = viewer
    const json = { type: 'RateLimitExceededError', status: 429 }
    const headers = { 'Access-Control-Allow-Origin': '*' }
    await page.route('**/api/v1/otp/resend', route => route.fulfill({ status: 429, headers, json }))
    await send(page)
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByRole('alert').getByText('The code cannot be sent again.', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Send again' }).waitFor({ state: 'hidden' })
    await expectFocusInCode(page)
    await enter(page, await codeFor(viewer))
    await expectVerified(page)
  })

  /** What a framework does with the attributes that a page gives: in strict mode, where a property without a setter throws. */
  const assign = (page: Page, members: string) =>
    page.evaluate(`(() => {
      Object.assign(element, ${members})
      const { name, required, disabled, form } = element
      return { name, required, disabled, form: form?.id, attributes: element.getAttributeNames().sort().join(' ') }
    })()`)

  it('takes what a framework assigns to its properties as its attributes', async () => {
    const { page } = await visit()
    await page.evaluate("document.forms[0].id = 'shop'; document.body.append(element)")
    const field = page.getByLabel('Phone number or email')
    expect(await assign(page, "{ name: 'proof', required: true, disabled: true, form: 'shop' }")).to.deep.equal({
      name: 'proof',
      required: true,
      disabled: true,
      form: 'shop',
      attributes: 'disabled form name publishable-key required',
    })
    expect(await field.isDisabled()).to.equal(true)
    const bare = { name: '', required: false, disabled: false, form: undefined, attributes: 'publishable-key' }
    const removed = '{ name: undefined, required: undefined, disabled: undefined, form: undefined }'
    expect(await assign(page, removed)).to.deep.equal(bare)
    expect(await assign(page, removed), 'once more').to.deep.equal(bare)
    expect(await field.isDisabled()).to.equal(false)
  })

  it('minds what was changed while it was taken out: whether it is required, and its recipient, with which it begins again', async () => {
    const { page } = await visit()
    await send(page)
    await page.evaluate("element.remove(); element.removeAttribute('required'); document.forms[0].append(element)")
    expect(await page.evaluate('document.forms[0].checkValidity()')).to.equal(true)
    await page.getByLabel('Code', { exact: true }).waitFor()
    await page.evaluate("element.remove(); element.setAttribute('recipient', '+14155560002')")
    await page.evaluate('document.forms[0].append(element)')
    expect(await page.getByLabel('Phone number or email').inputValue()).to.equal('+14155560002')
  })

  for (const [what, disabled] of [
    ['it', 'element'],
    ['its fieldset', 'element.parentElement'],
  ] as const)
    it(`calls nothing while ${what} is disabled, and keeps a code that arrives`, async () => {
      const viewer = await visit({ settings: NO_COOLDOWN })
      const { page } = viewer
      await page.evaluate("element.before(document.createElement('fieldset')); element.previousSibling.append(element)")
      await send(page)
      const code = await codeFor(viewer)
      const calls = await callsOf(page)
      const again = page.getByRole('button', { name: 'Send again' })
      expect(await again.isDisabled()).to.equal(false)
      await page.evaluate(`${disabled}.toggleAttribute('disabled')`)
      expect(await again.isDisabled()).to.equal(true)
      await page.evaluate(`receive('${code}')`)
      expect(await callsOf(page)).to.deep.equal(calls)
      await page.evaluate(`${disabled}.toggleAttribute('disabled')`)
      await page.getByRole('button', { name: 'Verify' }).click()
      await expectVerified(page)
    })

  it('shows the link of a WhatsApp link mode, and asks for the code when its form is sent too early', async () => {
    const viewer = await visit({ settings: LINK_MODE })
    const { page, admin, app } = viewer
    await send(page)
    await page.getByRole('heading').click()
    await page.evaluate('document.forms[0].requestSubmit()')
    await expectFocusInCode(page)
    const address = new URL((await page.getByRole('link', { name: 'Open WhatsApp' }).getAttribute('href')) ?? '')
    expect(address.host).to.equal('wa.me')
    const text = address.searchParams.get('text')
    await admin('POST', '/sandbox/inbound', { app_id: app, from: number, text })
    await enter(page, await codeFor(viewer))
    await expectVerified(page)
  })

  it('solves a challenge', async () => {
    const viewer = await visit({ settings: CHALLENGED })
    // Not the page whose errors are counted: the browser reports that its policy allows no worker.
    const page = await viewer.context.newPage()
    await goTo({ ...viewer, page })
    await send(page)
    await enter(page, await codeFor(viewer))
    await expectVerified(page)
  })

  describe('where the app has the widget of a vendor', () => {
    let verifying: Receiver
    /** False: the vendor does not say whether a token is good. */
    let isVendorUp: boolean
    beforeEach(async () => {
      isVendorUp = true
      verifying = await startReceiver(({ body }, response) => {
        if (!isVendorUp) return void response.writeHead(503).end()
        const form = new URLSearchParams(body.toString())
        const success = form.get('secret') === VENDOR_SECRET && /^good-/.test(form.get('response') ?? '')
        response.end(JSON.stringify(success ? { success, hostname: 'localhost' } : { success, 'error-codes': [] }))
      })
    })
    afterEach(() => verifying.close())

    const good = (): string => `good-${number}`
    const tokens = (): (string | null)[] =>
      verifying.received.map(({ body }) => new URLSearchParams(body.toString()).get('response'))

    /** `script`: what becomes of the request for it. By default it arrives. */
    async function visitWidget(
      by: Vendor,
      { script, ...options }: Visit & { script?: (route: Route) => unknown } = {},
    ) {
      const viewer = await visit({ settings: CHALLENGED, ...options })
      const { page, admin, app, clock } = viewer
      const challenge = {
        by,
        site_key: 'site-1',
        secret: VENDOR_SECRET,
        verify_url: `http://127.0.0.1:${verifying.port}/siteverify`,
      }
      const settings = { allowed_origins: [origin()], challenge }
      const changed = await admin('PATCH', `/apps/${app}`, { settings })
      expect(changed.status, changed.text).to.equal(200)
      await clock.advance(CACHE_TTL_MS)
      const loads = { failed: 0 }
      await page.route(`${VENDORS[by].script}*`, route => {
        if (!script) return route.fulfill({ contentType: 'text/javascript', body: vendorScript(by, good()) })
        loads.failed += 1
        return script(route)
      })
      await goTo(viewer, { vendor: by })
      await page.getByLabel('Phone number or email').fill(number)
      return {
        ...viewer,
        loads,
        dialog: page.getByRole('dialog', { name: VENDORS[by].name }),
        press: () => page.getByRole('button', { name: 'Send code' }).click(),
        async scriptArrives() {
          await page.unroute(`${VENDORS[by].script}*`)
          await page.route(`${VENDORS[by].script}*`, route =>
            route.fulfill({ contentType: 'text/javascript', body: vendorScript(by, good()) }),
          )
        },
      }
    }
    const solve = (page: Page): Promise<void> => page.getByRole('button', { name: 'A person at site-1' }).click()
    const waitForCodeField = (page: Page): Promise<void> => page.getByLabel('Code', { exact: true }).waitFor()
    const waitForRefusal = (page: Page): Promise<void> =>
      page.getByRole('alert').getByText('(ChallengeRequiredError)').waitFor()
    const abort = (route: Route): Promise<void> => route.abort()

    for (const by of ['turnstile', 'hcaptcha'] as const)
      it(`shows that of ${by}, and goes on with its token`, async () => {
        const viewer = await visitWidget(by)
        const { page, dialog, press } = viewer
        await press()
        await dialog.waitFor()
        await expectAccessible(page)
        expect(tokens(), 'nothing to check yet').to.deep.equal([])
        await solve(page)
        await waitForCodeField(page)
        expect(await dialog.count()).to.equal(0)
        expect(tokens()).to.deep.equal([`${good()}-1`])
        expect(verifying.received[0]?.body.toString()).to.include('sitekey=site-1')
        await enter(page, await codeFor(viewer))
        await expectVerified(page)
      })

    it('says so when the person closes it, and shows it again at the next press', async () => {
      const { page, dialog, press } = await visitWidget('turnstile')
      for (const close of [
        () => page.keyboard.press('Escape'),
        () => page.getByRole('button', { name: 'Close' }).click(),
      ]) {
        await press()
        await dialog.waitFor()
        await close()
        await waitForRefusal(page)
        expect(await dialog.count()).to.equal(0)
      }
      await press()
      await solve(page)
      await waitForCodeField(page)
    })

    it('says so when its script cannot be loaded, and loads it at the next press', async () => {
      const { page, dialog, press, loads, scriptArrives } = await visitWidget('turnstile', { script: abort })
      await press()
      await waitForRefusal(page)
      expect(loads.failed, 'once more before it gives up').to.equal(2)
      expect(tokens(), 'the vendor is asked whether it is up').to.deep.equal(['script-not-loaded'])
      expect(await dialog.count()).to.equal(0)
      await scriptArrives()
      await press()
      await solve(page)
      await waitForCodeField(page)
    })

    it('says so when its script arrives and is no such script', async () => {
      const script = (route: Route) => route.fulfill({ contentType: 'text/javascript', body: 'window.turnstile = {}' })
      const { page, press, loads } = await visitWidget('turnstile', { script, movesClock: true })
      await press()
      for (const nth of [1, 2]) {
        await eventually(async () => expect(loads.failed).to.equal(nth))
        await page.clock.fastForward(10_000)
      }
      await waitForRefusal(page)
    })

    it('computes a proof of work instead when its script never arrives and the vendor is down', async () => {
      isVendorUp = false
      // The browser reports that the page's policy allows no worker.
      const viewer = await visitWidget('hcaptcha', { script: () => {}, movesClock: true, reportsRefusals: true })
      const { page, press, loads } = viewer
      await press()
      await eventually(async () => expect(loads.failed).to.equal(1))
      await page.clock.fastForward(10_000)
      await waitForCodeField(page)
      expect(tokens()).to.deep.equal(['script-not-loaded'])
      await enter(page, await codeFor(viewer))
      await expectVerified(page)
    })
  })

  it('is used with the keyboard alone', async () => {
    const viewer = await visit({ settings: NO_COOLDOWN })
    const { page } = viewer
    const { keyboard } = page
    await page.evaluate('element.focus()')
    await keyboard.type(number)
    await keyboard.press('Enter')
    await page.getByLabel('Code', { exact: true }).waitFor()
    await codeFor(viewer)
    await keyboard.press('Tab')
    await keyboard.press('Tab')
    await keyboard.press('Enter')
    await page.getByText('(WhatsApp)').waitFor()
    await keyboard.type(await codeFor(viewer, 2))
    await keyboard.press('Enter')
    await expectVerified(page)
  })

  for (const look of [{ theme: 'light' }, { theme: 'dark', size: 'phone' }, { lang: 'ar' }] as const)
    it(`has no findings of axe and fits a narrow screen: ${Object.values(look).join(', ')}`, async () => {
      const { page } = await visit({ settings: NO_COOLDOWN, ...look })
      await page.setViewportSize({ width: 320, height: 640 })
      await expectAccessible(page)
      await page.getByRole('textbox').fill('nobody')
      await page.getByRole('button').first().click()
      await page.getByRole('alert').getByText(/./).waitFor()
      await expectAccessible(page)
      await page.getByRole('textbox').fill(number)
      await page.getByRole('button').first().click()
      await page.getByText('(SMS)').waitFor()
      await expectAccessible(page)
    })

  it('has its status before the first text, without a place on the screen, and describes the code by it', async () => {
    const { page, context } = await visit()
    const client = await context.newCDPSession(page)
    const find = async (role: string) => {
      const { nodes } = await client.send('Accessibility.getFullAXTree')
      return nodes.find(node => !node.ignored && node.role?.value === role)
    }
    const status = await find('status')
    const [element, label] = [page.locator('countersign-verify'), page.getByText('Phone number or email')]
    expect((await element.boundingBox())?.y).to.equal((await label.boundingBox())?.y)
    await send(page)
    await page.getByText(masked()).waitFor()
    expect((await find('status'))?.backendDOMNodeId)
      .to.be.a('number')
      .and.to.equal(status?.backendDOMNodeId)
    expect((await find('textbox'))?.description?.value).to.match(/^Code sent:.*\(SMS\)$/)
  })

  it('speaks the language of the page, from right to left where that is usual', async () => {
    const { page } = await visit({ lang: 'ar' })
    const field = page.getByLabel('رقم الهاتف أو البريد الإلكتروني')
    await field.waitFor()
    expect(await field.evaluate(input => (input as unknown as Element).closest('[dir]').dir)).to.equal('rtl')
    const element = page.locator('countersign-verify')
    await element.evaluate(one => (one as unknown as Element).setAttribute('locale', 'de-AT'))
    await page.getByLabel('Telefonnummer oder E-Mail').waitFor()
  })
})

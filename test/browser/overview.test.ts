// The Overview in a real browser: figures, charts and tables of what happened, in every range, mode and split.
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { done } from '../../infra/broker/broker.ts'
import { createDashboardService } from '../../services/dashboard/service.ts'
import { createEdgeService } from '../../services/edge/service.ts'
import type { Runtime } from '../../services/main.ts'
import { createOtpService } from '../../services/otp/service.ts'
import { createCaller } from '../support/api-caller.ts'
import {
  describeInBrowser,
  expectAccessible,
  expectAccessibleInEveryLook,
  newestCode,
  type OpenDashboard,
  type PageOptions,
  type ShopViewer,
  SIZES,
} from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { freshNumber, wrongCode } from '../support/flow.ts'
import { addStatsHistory } from '../support/stats-history.ts'

/** The page of an operator, whose app has one provider, allows one wrong code and blocks France. */
async function openShop(open: OpenDashboard, options?: PageOptions): Promise<ShopViewer> {
  const viewer = await open.shop(options)
  const { admin, app } = viewer
  const settings = { blocked_countries: ['FR'], verify_attempts: 1 }
  expect((await admin('PATCH', `/apps/${app}`, { name: 'Shop', settings })).status).to.equal(200)
  const provider = { channel: 'sms', type: 'sandbox', config: {} }
  expect((await admin('PUT', `/apps/${app}/providers/main-sms`, provider)).status).to.equal(201)
  return viewer
}

/** One of the large figures. */
const figure = (page: Page, name: string) => page.getByRole('group', { name, exact: true })
const chart = (page: Page, title: string) => page.getByRole('region', { name: title, exact: true })
/** What the card of messages says: names and counts. */
const outcomes = async (page: Page): Promise<string[]> => {
  const bars = page.getByRole('list', { name: 'Messages by outcome' }).getByRole('listitem')
  await bars.first().waitFor()
  return (await bars.allInnerTexts()).map(text => text.replace(/\s+/g, ' ').trim())
}
const choose = (page: Page, group: string, option: string) =>
  page.getByRole('group', { name: group }).getByRole('radio', { name: option }).check()

/** Sends, and verifies with the right or a wrong code. */
async function verifyOne(viewer: ShopViewer, isRight = true): Promise<string> {
  const server = createCaller(viewer.countersign.url, viewer.serverKey)
  const to = freshNumber()
  const { otp_id } = (await server.send(to)).body
  const code = await newestCode(viewer, to)
  await server.verify(otp_id, isRight ? code : wrongCode(code))
  return otp_id
}

type Counted = 'started' | 'refused'

/** Waits until the statistics have counted so many sends, which takes seconds. */
const untilCounted = ({ admin, app }: Pick<ShopViewer, 'admin' | 'app'>, started: number, refused = 0) =>
  eventually(async () => {
    // The hour may change between the sends.
    const { items } = (await admin('GET', `/apps/${app}/stats`)).body as { items: Record<Counted, number>[] }
    const sum = (what: Counted) => items.reduce((all, row) => all + row[what], 0)
    expect({ started: sum('started'), refused: sum('refused') }).to.deep.equal({ started, refused })
  })

const SMS = {
  channel: 'sms',
  country: 'DE',
  provider: 'main-sms',
  started: 1,
  delivered: 1,
  approved: 1,
  seconds: 20,
}

/** Live: twice as many sends in the last 24 hours as before, with WhatsApp in Brazil beside SMS in Germany. Test: ten by email. */
async function addHistory({ countersign, app }: ShopViewer): Promise<void> {
  const { store } = countersign.engines
  const now = Date.now()
  const own = { app, now, hours: 47 }
  const sms = { ...SMS, started: 2, delivered: 2 }
  const whatsapp = { ...sms, channel: 'whatsapp', country: 'BR', provider: 'cloud', approved: 2, seconds: 12 }
  const email = { ...sms, channel: 'email', country: '?', provider: 'mail', started: 1, delivered: 1 }
  await addStatsHistory(store, { ...own, traffic: (_, ago) => (ago < 24 ? [sms, whatsapp] : [sms]) })
  await addStatsHistory(store, { ...own, mode: 'test', traffic: (_, ago) => (ago < 10 ? [email] : []) })
}

describeInBrowser('the overview', open => {
  it('leads a new app to its first steps, and shows the first send by itself', async () => {
    const viewer = await openShop(open, { movesClock: true })
    const { page } = viewer
    await page.clock.install()
    await page.goto('/overview')
    await page.getByRole('heading', { name: 'Shop has not sent a code yet' }).waitFor()
    for (const step of ['Send a code', 'Add a provider', 'Set the webhook'])
      await page.getByRole('heading', { name: step }).waitFor()
    const link = page.getByRole('link', { name: 'Send your first code' })
    expect(await link.getAttribute('href')).to.equal(`/a/${viewer.app}/try`)
    await verifyOne(viewer)
    await untilCounted(viewer, 1)
    await page.clock.fastForward(11_000)
    await figure(page, 'Sends').getByText('1', { exact: true }).waitFor()
    await figure(page, 'Conversion').getByText('100%', { exact: true }).waitFor()
    await verifyOne(viewer, false)
    await untilCounted(viewer, 2)
    await page.clock.fastForward(11_000)
    await figure(page, 'Sends').getByText('2', { exact: true }).waitFor()
    await figure(page, 'Approvals').getByText('1 failed, 0 expired').waitFor()
    await figure(page, 'Conversion').getByText('1 of 2 sends').waitFor()
  })

  it('says of an app that was quiet for 30 days that nothing was sent in them', async () => {
    const { page, countersign, app } = await openShop(open)
    await addStatsHistory(countersign.engines.store, {
      app,
      now: Date.now(),
      hours: 36 * 24,
      traffic: (_, ago) => (ago > 35 * 24 ? [SMS] : []),
    })
    await page.goto('/overview?range=30d&mode=both')
    await page.getByText('Nothing was sent here in the last 30 days.', { exact: true }).waitFor()
    expect(await page.getByText('has not sent a code yet').count()).to.equal(0)
    await page.goto('/overview?range=7d&mode=live')
    await page
      .getByText('Nothing was sent here in the last 7 days. Choose a longer range, or both modes.', { exact: true })
      .waitFor()
  })

  it('counts what came through the API: sends, approvals, refusals by type', async () => {
    const viewer = await openShop(open)
    const { page, countersign, serverKey } = viewer
    const otp_id = await verifyOne(viewer)
    await verifyOne(viewer, false)
    const server = createCaller(countersign.url, serverKey)
    // The statistics count refused sends alone, so their number is another than that of the records.
    expect((await server.resend(otp_id)).status).to.equal(409)
    for (const to of ['+33612345678', '+33612345679', 'no number'])
      expect((await server.send(to)).status).to.be.at.least(400)
    await untilCounted(viewer, 2, 3)
    await page.goto('/overview')
    await figure(page, 'Sends').getByText('2', { exact: true }).waitFor()
    await figure(page, 'Approvals').getByText('1', { exact: true }).waitFor()
    await figure(page, 'Conversion').getByText('50%', { exact: true }).waitFor()
    await figure(page, 'Delivery rate').getByText('2 of 2 with a known outcome').waitFor()
    await figure(page, 'Time to approval')
      .getByText(/^\d+ s$/)
      .waitFor()
    await page.getByRole('img', { name: /^The last 24 hours: 2 sends, 1 approval\. Most sends: 2,/ }).waitFor()

    const refusals = page.getByRole('region', { name: 'Refusals by type' })
    await refusals.getByText('4 sends and resends refused in the last 24 hours.').waitFor()
    const types = refusals.getByRole('list', { name: 'Refusals by type' }).getByRole('listitem')
    expect(await types.allInnerTexts()).to.have.length(3)
    const counts = await refusals.locator('.bar-list-count').allInnerTexts()
    expect(counts.map(Number).reduce((all, count) => all + count)).to.equal(4)
    expect((await types.first().innerText()).replace(/\s+/g, ' ')).to.equal(
      "The recipient's country is blocked GeoBlockedError 2",
    )
    await page.getByRole('region', { name: 'Providers' }).getByText('No provider is paused').waitFor()
    await page.getByRole('region', { name: 'Queues' }).getByText('Nothing waits').waitFor()
  })

  it('switches range, mode and split, and keeps them in the address', async () => {
    const viewer = await openShop(open)
    await addHistory(viewer)
    const { page } = viewer
    await page.goto('/overview')
    await choose(page, 'Mode', 'Test')
    await figure(page, 'Sends').getByText('10', { exact: true }).waitFor()
    await figure(page, 'Sends').getByText('None before').waitFor()
    await choose(page, 'Mode', 'Live')
    await figure(page, 'Sends')
      .getByText(/(100|92)% more against the 24 hours before/)
      .waitFor()
    await choose(page, 'Range', '7 days')
    await figure(page, 'Sends').getByText('142', { exact: true }).waitFor()
    await choose(page, 'Range', '30 days')
    await page.getByRole('img', { name: /^The last 30 days: 142 sends, 95 approvals\./ }).waitFor()

    await choose(page, 'Split by', 'Channel')
    const byChannel = page.getByRole('table', { name: 'By channel' })
    await byChannel.getByRole('row', { name: /^SMS 94 94 0 0 94 0 100% 47 50% 20 s 0 47 0$/ }).waitFor()
    await byChannel.getByRole('row', { name: /^WhatsApp 48 48 0 0 48 0 100% 48 100% 12 s 0 0 0$/ }).waitFor()
    await byChannel.getByRole('row', { name: /^All 142 / }).waitFor()
    await expectAccessibleInEveryLook(page)
    await page.getByRole('img', { name: 'Conversion in the last 30 days: SMS 50%, WhatsApp 100%.' }).waitFor()
    await choose(page, 'Split by', 'Country')
    await page
      .getByRole('table', { name: 'By country' })
      .getByRole('row', { name: /^Germany DE 94 / })
      .waitFor()
    expect(new URL(page.url()).search).to.equal('?range=30d&mode=live&by=country')

    await page.reload()
    await page
      .getByRole('table', { name: 'By country' })
      .getByRole('row', { name: /^Brazil BR 48 / })
      .waitFor()
    expect(await page.getByRole('radio', { name: '30 days' }).isChecked()).to.equal(true)
  })
})

describeInBrowser('the banner of the overview', (open, start) => {
  const troubles = (page: Page) => page.getByRole('alert').getByRole('list', { name: 'What is wrong now' })
  const linkOf = async (page: Page, text: string | RegExp) =>
    troubles(page).getByRole('listitem').filter({ hasText: text }).getByRole('link').getAttribute('href')

  it('says during an outage that messages wait and why, and goes when it is over', async () => {
    const services = {
      edge: (runtime: Runtime) => createEdgeService({ ...runtime, otherApis: [] }),
      otp: createOtpService,
      dashboard: createDashboardService,
    }
    const countersign = await start({ services })
    const { page, admin } = await open.operator(countersign)
    const { key } = (await admin('POST', '/apps/app_demo/keys', { kind: 'server', mode: 'test' })).body
    expect((await createCaller(countersign.url, key).send(freshNumber())).status).to.equal(200)
    await untilCounted({ admin, app: 'app_demo' }, 1)
    await page.goto('/overview')
    const words = 'Messages by SMS wait: no process of this channel runs.'
    await troubles(page).getByText(words).waitFor()
    expect(await linkOf(page, words)).to.equal('/queues?queue=channel.sms')
    expect(await outcomes(page)).to.deep.equal(['Queued 1', 'Sent without receipt 0', 'Delivered 0', 'Failed 0'])
    await figure(page, 'Delivery rate').getByText('–', { exact: true }).waitFor()

    await countersign.engines.broker.consume('channel.sms', async waiting => waiting.map(done), { prefetch: 10 })
    await eventually(async () => {
      const answered = page.waitForResponse(/\/health$/)
      await page.reload()
      expect(await (await answered).json()).to.deep.equal({ causes: [] })
    })
    await page.getByRole('list', { name: 'Messages by outcome' }).waitFor()
    expect(await troubles(page).count()).to.equal(0)
  })

  /** As the API answers during many outages at once. */
  async function breakAll(page: Page): Promise<void> {
    const none = { channel: null, provider: null, reason: null, since: null }
    const gate = { ...none, channel: 'sms', provider: 'gate', since: '2030-01-01T12:00:00.000Z' }
    const causes = [
      { ...none, cause: 'verifications_stopped' },
      { ...none, cause: 'channel_stopped', channel: 'whatsapp' },
      { ...none, cause: 'webhooks_stopped' },
      { ...gate, cause: 'provider_open' },
      { ...gate, cause: 'provider_half_open', provider: 'second' },
      { ...gate, cause: 'provider_silent', provider: 'third', countries: ['BR', 'IN'] },
      {
        ...none,
        cause: 'endpoint_paused',
        reason: 'gone',
        endpoint: { id: 'whk_2', name: 'CRM', url: 'https://crm.example' },
      },
    ]
    await page.route('**/admin/v1/apps/*/health', route => route.fulfill({ json: { causes } }))
    const queue = {
      queue: 'webhook.deliver',
      broker_name: null,
      ready: 0,
      oldest_ms: null,
      consumers: 1,
      owed: 0,
      owed_oldest_seconds: 0,
      dead: 2,
    }
    await page.route('**/admin/v1/queues', route => route.fulfill({ json: [queue] }))
  }

  const linksOf = (app: string): readonly [text: string | RegExp, operator: string, viewer: string][] => [
    ['answered with 503', '/queues?queue=otp.calls', `/a/${app}/verifications`],
    ['Messages by WhatsApp wait', '/queues?queue=channel.whatsapp', `/a/${app}/verifications`],
    ['Events wait', '/queues?queue=webhook.deliver', `/a/${app}/api-keys`],
    [/gate \(SMS\) failed too often and is not called\. Since .*2030/, `/a/${app}/providers`, `/a/${app}/providers`],
    ['second (SMS) failed too often and is being tried again', `/a/${app}/providers`, `/a/${app}/providers`],
    [
      /third \(SMS\) accepts messages to Brazil and India, but hardly anyone types the code\..*2030/,
      `/a/${app}/routing`,
      `/a/${app}/routing`,
    ],
    [
      'The webhook endpoint CRM is paused, and its events are held. Your endpoint answered 410',
      `/a/${app}/webhooks?endpoint=whk_2`,
      `/a/${app}/webhooks?endpoint=whk_2`,
    ],
  ]

  it('leads an operator to each cause, and to dead letters, and a viewer to screens that viewers have', async () => {
    const operator = await open.shop()
    const viewer = await open.member('viewer', { size: 'phone', theme: 'dark' })
    for (const { page } of [operator, viewer]) {
      await breakAll(page)
      await page.goto('/overview')
      await troubles(page).waitFor()
    }
    await troubles(operator.page).getByText('2 dead letters in webhook.deliver').waitFor()
    for (const [text, href] of linksOf(operator.app)) expect(await linkOf(operator.page, text)).to.equal(href)
    expect(await linkOf(operator.page, '2 dead letters')).to.equal('/queues?queue=webhook.deliver')
    for (const [text, , href] of linksOf(viewer.app)) expect(await linkOf(viewer.page, text)).to.equal(href)
    expect(await troubles(viewer.page).getByText('dead letter').count()).to.equal(0)
    expect(await viewer.page.getByRole('region', { name: 'Queues' }).count()).to.equal(0)
    for (const { page } of [operator, viewer]) await expectAccessible(page)
  })
})

describeInBrowser('the looks of the overview', open => {
  it('show the values under the pointer, in all charts at once', async () => {
    const viewer = await openShop(open)
    await addHistory(viewer)
    const { page } = viewer
    await page.goto('/overview?mode=live&by=channel')
    const picture = chart(page, 'Sends').getByRole('img')
    await picture.hover({ position: { x: 200, y: 100 } })
    await chart(page, 'Sends')
      .getByText(/\d\d:00–\d\d:00/)
      .waitFor()
    await chart(page, 'Conversion')
      .getByText(/\d\d:00–\d\d:00/)
      .waitFor()
    expect(await chart(page, 'Sends').getByRole('listitem').first().innerText()).to.match(/SMS\s*2$/)
    await chart(page, 'Conversion').getByRole('button', { name: 'Show as table' }).click()
    await page.getByRole('table', { name: 'Conversion' }).waitFor()
    await expectAccessibleInEveryLook(page)
  })

  it('are drawn again in the colours of another theme, and in another width', async () => {
    const viewer = await openShop(open)
    await addHistory(viewer)
    const { page } = viewer
    await page.goto('/overview')
    const canvas = chart(page, 'Sends and approvals').locator('canvas')
    const drawn = () => canvas.evaluate(element => (element as unknown as { toDataURL(): string }).toDataURL())
    await canvas.waitFor()
    const light = await drawn()
    await page.emulateMedia({ colorScheme: 'dark' })
    await eventually(async () => expect(await drawn()).not.to.equal(light))
    await page.emulateMedia({ colorScheme: 'light' })
    await eventually(async () => expect(await drawn()).to.equal(light))
    await page.getByText('op', { exact: true }).or(page.locator('.account summary')).first().click()
    await page.getByLabel('Theme').selectOption('Dark')
    await eventually(async () => expect(await drawn()).not.to.equal(light))

    await page.setViewportSize(SIZES.phone)
    await eventually(async () => expect((await canvas.boundingBox())?.width).to.be.below(350))
  })
})

// The screen of limits and fraud, in a real browser, and what its changes do to the next send.

import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import type { Locator, Page, Request } from 'playwright-core'
import { type Caller, createCaller, refusal } from '../support/api-caller.ts'
import {
  describeInBrowser,
  expectAccessibleInEveryLook,
  forgetProof,
  type ShopViewer,
  saveSettings,
} from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { CACHE_TTL_MS } from '../support/flow.ts'
import { createGate } from '../support/gate.ts'

const callerOf = ({ countersign, serverKey }: ShopViewer): Caller => createCaller(countersign.url, serverKey)

/** Neighbours that are sent to and never verified, from an address each. */
async function pump(caller: Caller, count: number): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) {
    const answer = await caller.send(`+4474001230${10 + nth}`, { client_ip: `93.184.216.${nth}` })
    expect(answer.status, answer.text).to.equal(200)
  }
}

/** Those of the last two minutes count half: from twenty on the guard would refuse. */
const PUMPED = 24

const limit = (page: Page, name: string): Locator => page.getByRole('group', { name, exact: true })

/** A list of this many ranges without a gap between any two that could be joined. */
const manyRanges = (count: number): string =>
  Array.from({ length: count }, (_, at) => `23.${(at >> 14) & 255}.${(at >> 6) & 255}.${(at & 63) * 4}`).join('\n')

const chooseFile = (page: Page, text: string): Promise<void> =>
  page
    .getByLabel('File', { exact: true })
    .setInputFiles({ name: 'ours.txt', mimeType: 'text/plain', buffer: Buffer.from(text) })

describeInBrowser('the screen of limits and fraud', open => {
  it('lets a newcomer turn on the fraud guard, and says first what it would have refused', async () => {
    const viewer = await open.shop()
    const { page, admin, app } = viewer
    const caller = callerOf(viewer)
    await pump(caller, PUMPED)
    const recorded = await eventually(async () => {
      const { items } = (await admin('GET', `/apps/${app}/fraud`)).body
      expect(items).to.have.length.greaterThan(0)
      return items.length
    })
    await page.goto('/overview')
    await page.getByRole('link', { name: 'Limits and fraud' }).click()
    const decisions = page.getByRole('table', { name: 'Decisions of the fraud guard' })
    await decisions.getByText('Would be refused').first().waitFor()
    await decisions.getByText('Neighbouring numbers.').first().waitFor()
    const ranges = page.getByRole('table', { name: 'Conversion by range of numbers' })
    // Counts are written within seconds; the screen reads them on a visit.
    await eventually(async () => {
      await page.reload()
      await ranges.getByText('United Kingdom').waitFor({ timeout: 1_000 })
    })
    await ranges.getByText('+447400…').waitFor()
    await expectAccessibleInEveryLook(page)

    const guard = page.getByRole('switch', { name: 'Fraud guard', exact: true })
    await guard.click()
    const dialog = page.getByRole('dialog', { name: 'Turn on the fraud guard?' })
    await dialog.getByText(`Of its latest ${recorded} decisions it would have refused ${recorded}`).waitFor()
    await expectAccessibleInEveryLook(page)
    await dialog.getByRole('button', { name: 'Not now' }).click()
    expect(await guard.isChecked()).to.equal(false)
    expect((await admin('GET', `/apps/${app}`)).body.settings.fraud_guard.mode).to.equal('record')

    await guard.click()
    await dialog.getByRole('button', { name: 'Turn on' }).click()
    await page.getByText('The fraud guard refuses. Every process knows within 5 seconds.').waitFor()
    expect(await guard.isChecked()).to.equal(true)
    await viewer.clock.advance(CACHE_TTL_MS)
    const answer = await caller.send('+447400123099', { client_ip: '93.184.216.99' })
    expect(refusal(answer)).to.deep.include({ status: 429, scope: 'fraud_guard' })
    await page.reload()
    await decisions.getByText('Refused', { exact: true }).first().waitFor()

    await forgetProof(viewer)
    await guard.click()
    const proof = page.getByRole('dialog', { name: 'Is it still you?' })
    await proof.getByRole('button', { name: 'Cancel' }).click()
    expect((await admin('GET', `/apps/${app}`)).body.settings.fraud_guard.mode).to.equal('on')
    await guard.click()
    await proof.getByLabel('Operator token').fill('wrong')
    await proof.getByRole('button', { name: 'Confirm' }).click()
    await proof.getByText('This is not the token').waitFor()
    await proof.getByLabel('Operator token').fill(viewer.countersign.secrets.adminTokens[0]?.token ?? '')
    await proof.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('The fraud guard refuses nothing and keeps recording.').waitFor()
    await guard.and(page.locator(':focus')).waitFor()
    await page.getByRole('radio', { name: 'Move it to a free channel' }).click()
    await page.getByText('Suspicious messages move to a free channel.').waitFor()
    const { fraud_guard } = (await admin('GET', `/apps/${app}`)).body.settings
    expect(fraud_guard).to.include({ mode: 'record', action: 'free_channel' })
  })

  it('keeps what a colleague has switched meanwhile, and shows it', async () => {
    const { page, admin, app } = await open.shop()
    await page.goto('/limits')
    const records = page.getByRole('switch', { name: 'Record what it would refuse' })
    await records.and(page.locator(':enabled')).waitFor()
    const change = (settings: object) => admin('PATCH', `/apps/${app}`, { settings })
    expect((await change({ fraud_guard: { mode: 'on' }, publishable_challenge: 'risk' })).status).to.equal(200)
    await records.click()
    const refused = page.getByText('Another person has changed it meanwhile, so nothing was saved.')
    await refused.waitFor()
    expect(await page.getByRole('switch', { name: 'Fraud guard', exact: true }).isChecked()).to.equal(true)
    expect(await page.getByRole('radio', { name: 'When a send looks risky' }).isChecked()).to.equal(true)
    expect((await change({ publishable_challenge: 'always' })).status).to.equal(200)
    await page.getByRole('radio', { name: 'Never' }).click()
    await eventually(async () => expect(await refused.count()).to.equal(2))
    expect(await page.getByRole('radio', { name: 'Always' }).isChecked()).to.equal(true)
    const { fraud_guard, publishable_challenge } = (await admin('GET', `/apps/${app}`)).body.settings
    expect([fraud_guard.mode, publishable_challenge]).to.deep.equal(['on', 'always'])
  })

  it('changes a limit in words, refuses a bad one beside its field, and the limit holds', async () => {
    const viewer = await open.shop()
    const { page, admin, app } = viewer
    await page.goto('/limits')
    const sends = limit(page, 'Sends to one recipient')
    expect(await sends.getByLabel('in', { exact: true }).first().inputValue()).to.equal('10 minutes')
    await sends.getByRole('button', { name: 'Remove rule' }).last().click()
    await sends.getByLabel('At most').fill('0')
    await sends.getByLabel('in', { exact: true }).fill('90')
    await page.getByLabel('Share for suspicious addresses').fill('12.5')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await sends.getByText('Must be a whole number, 1 or more.').waitFor()
    await sends.getByText('Must be from 1 second to 7 days, such as “10 minutes”.').waitFor()
    await expectAccessibleInEveryLook(page)
    await sends.getByLabel('At most').fill('1')
    await sends.getByLabel('in', { exact: true }).fill('1h 30 min')
    await saveSettings(page)
    expect(await sends.getByLabel('in', { exact: true }).inputValue()).to.equal('1h 30 min')
    const { limits } = (await admin('GET', `/apps/${app}`)).body.settings
    expect(limits.recipient).to.deep.equal([{ max: 1, seconds: 5_400 }])
    expect(limits.client_ip_reputation_factor).to.equal(0.125)

    await viewer.clock.advance(CACHE_TTL_MS)
    const caller = callerOf(viewer)
    expect((await caller.send('+14155552671')).status).to.equal(200)
    expect(refusal(await caller.send('+14155552671'))).to.deep.include({ status: 429, scope: 'recipient' })
  })

  it('chooses countries by name, and caps what they may cost', async () => {
    const viewer = await open.shop()
    const { page, admin, app } = viewer
    await page.goto('/limits')
    await page.getByLabel('Block a country').fill('Atlantis')
    await page.getByRole('button', { name: 'Block', exact: true }).click()
    await page.getByText('“Atlantis” is the name or code of no country').waitFor()
    await page.getByLabel('Block a country').fill('br')
    await page.keyboard.press('Enter')
    await page.getByRole('list', { name: 'Blocked countries' }).getByText('Brazil').waitFor()
    await page.getByLabel('Only these countries').check()
    await page.getByText('No country is listed yet').waitFor()
    for (const country of ['United States', 'Brazil']) {
      await page.getByLabel('Allow a country').fill(country)
      await page.keyboard.press('Enter')
    }
    await page.getByRole('checkbox', { name: 'Pager' }).uncheck()
    await page.getByRole('checkbox', { name: 'VoIP' }).check()
    await page.getByRole('radio', { name: 'Every channel but SMS' }).check()
    await page.getByLabel('Cap a country').fill('United States')
    await page.getByRole('button', { name: 'Add cap' }).click()
    await page.getByRole('button', { name: 'Cap each other country' }).click()
    await page.getByLabel('Each other country, a day').fill('0.5')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Must be an amount, such as 25 or 0.50.').waitFor()
    await expectAccessibleInEveryLook(page)
    await page.getByLabel('United States, a day').fill('25')
    await saveSettings(page)
    const { settings } = (await admin('GET', `/apps/${app}`)).body
    expect(settings.spend_caps).to.deep.equal({ US: 25_000_000, '*': 500_000 })
    expect(settings.allowed_countries).to.deep.equal(['US', 'BR'])
    expect(settings.number_kinds).to.deep.equal({
      refused: ['premium_rate', 'shared_cost', 'uan', 'voicemail', 'voip'],
      fixed_line: 'skip_sms',
    })

    await viewer.clock.advance(CACHE_TTL_MS)
    const caller = callerOf(viewer)
    for (const [recipient, type] of [
      ['+5511987654321', 'GeoBlockedError'],
      ['+4915123456789', 'GeoBlockedError'],
    ] as const)
      expect((await caller.send(recipient)).body.type).to.equal(type)
    expect((await caller.send('+14155552671')).status).to.equal(200)

    const focused = page.locator(':focus')
    await page.getByRole('button', { name: 'Remove the cap of United States' }).click()
    await page.getByRole('button', { name: 'Add cap' }).and(focused).waitFor()
    await page.getByRole('list', { name: 'Blocked countries' }).getByRole('button', { name: 'Remove Brazil' }).click()
    await page.getByRole('button', { name: 'Block', exact: true }).and(focused).waitFor()
    await page.getByLabel('Every country').check()
    await saveSettings(page)
    const after = (await admin('GET', `/apps/${app}`)).body.settings
    expect(after.spend_caps).to.deep.equal({ '*': 500_000 })
    expect([after.allowed_countries, after.blocked_countries]).to.deep.equal([null, []])
  })
})

/** They are those of the deployment. */
describeInBrowser('the address lists on the screen of limits and fraud', (open, start) => {
  it('imports an address list from a file with its progress, and removes it', async () => {
    const { page, admin } = await open.operator(await start())
    await page.goto('/limits')
    await page.getByText('There is no list yet.').waitFor()
    await page.getByRole('button', { name: 'Import list' }).click()
    const dialog = page.getByRole('dialog', { name: 'Import an address list' })
    await dialog.getByRole('button', { name: 'Import', exact: true }).click()
    await dialog.getByText('Choose a file.').waitFor()
    await dialog.getByLabel('Class').selectOption('VPN')
    await dialog.getByLabel('Name').fill('ours')
    await chooseFile(page, `# ours\n10.0.0.1\nnonsense\n${manyRanges(120_000)}`)
    await dialog.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByRole('progressbar', { name: 'Import of VPN ours' }).waitFor({ timeout: 45_000 })
    const row = page.getByRole('row').filter({ hasText: 'VPN' })
    await row.getByText('ready', { exact: true }).waitFor({ timeout: 45_000 })
    await row.getByText('120,000 ranges; 1 private or reserved left out; 1 bad line left out (3)').waitFor()

    await row.getByRole('button', { name: 'Remove VPN ours' }).click()
    await page.getByRole('button', { name: 'Remove list' }).click()
    await page.getByText('There is no list yet.').waitFor()
    expect((await admin('GET', '/ip-lists')).body.items).to.deep.equal([])
  })

  it('shows a removed list no more when it was read before, and the answer comes later', async () => {
    const { page, admin } = await open.operator(await start(), { movesClock: true })
    await admin('PUT', '/ip-lists', { lists: [{ class: 'tor', name: 'exits', cidrs: ['45.95.147.0/24'] }] })
    await page.clock.install()
    await page.goto('/limits')
    const row = page.getByRole('row').filter({ hasText: 'exits' })
    await row.getByText('ready', { exact: true }).waitFor()
    const { released, release } = createGate()
    let isRead = false
    await page.route(
      '**/admin/v1/ip-lists',
      async route => {
        const response = await route.fetch()
        isRead = true
        await released
        await route.fulfill({ response })
      },
      { times: 1 },
    )
    // The page may give the reading up once the list is removed: then it ends without an answer.
    const ended = new Promise<void>(resolve => {
      const endOf = (request: Request): void => {
        if (request.method() === 'GET' && new URL(request.url()).pathname === '/admin/v1/ip-lists') resolve()
      }
      page.on('requestfinished', endOf)
      page.on('requestfailed', endOf)
    })
    await page.clock.fastForward(31_000)
    await eventually(() => expect(isRead).to.equal(true))
    await row.getByRole('button', { name: 'Remove Tor exits' }).click()
    await page.getByRole('button', { name: 'Remove list' }).click()
    await page.getByText('There is no list yet.').waitFor()
    release()
    await ended
    // What the page does with that answer is done before it gets another.
    await page.evaluate("fetch('/favicon.svg').then(answer => answer.text())")
    expect(await row.count()).to.equal(0)
  })

  it('asks once more before a list holds most addresses, and keeps the other lists', async () => {
    const { page, admin } = await open.operator(await start())
    const exits = { class: 'tor', name: 'exits', cidrs: ['45.95.147.0/24'] }
    await admin('PUT', '/ip-lists', { lists: [exits, { class: 'vpn', name: 'bad', text: 'nonsense\nnonsense' }] })
    await page.goto('/limits')
    await page.getByText('failed', { exact: true }).waitFor()
    await expectAccessibleInEveryLook(page)
    await page.getByRole('button', { name: 'Import list' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Ours!')
    await dialog.getByLabel('Pasted addresses').check()
    await dialog.getByLabel('Addresses', { exact: true }).fill('0.0.0.0/0')
    await dialog.getByRole('button', { name: 'Import', exact: true }).click()
    await dialog.getByText('must be 1 to 63 of a–z').first().waitFor()
    await expectAccessibleInEveryLook(page)
    await dialog.getByLabel('Name').fill('ours')
    await dialog.getByRole('button', { name: 'Import', exact: true }).click()
    await dialog.getByText('Most of your users would be refused.').waitFor()
    expect((await admin('GET', '/ip-lists')).body.items).to.have.length(2)
    // Another text is another question.
    await dialog.getByLabel('Addresses', { exact: true }).fill('0.0.0.0/0\n8.8.8.8')
    await dialog.getByRole('button', { name: 'Import', exact: true }).click()
    await dialog.getByRole('button', { name: 'Import it all the same' }).click()
    await page.getByRole('row').filter({ hasText: 'Abusive' }).getByText('ready', { exact: true }).waitFor()
    const { items } = (await admin('GET', '/ip-lists')).body
    expect(items.map((list: { name: string }) => list.name)).to.have.members(['ours', 'exits', 'bad'])
  })
})

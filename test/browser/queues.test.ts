// The Queues in a real browser: a message that dies is shown, requeued and dropped.
import { expect } from 'chai'
import { type DeliveredMessage, dead, done } from '../../infra/broker/broker.ts'
import { createDashboardService } from '../../services/dashboard/service.ts'
import type { Runtime } from '../../services/main.ts'
import { describeInBrowser, expectAccessibleInEveryLook } from '../support/browser.ts'
import type { Countersign } from '../support/countersign.ts'
import { eventually } from '../support/eventually.ts'

const QUEUE = 'webhook.deliver'

/** A webhook actor that gives up on every message, until it is mended. */
function createBuggyWebhook() {
  const handled: string[] = []
  const actor = { broken: true, handled }
  const handle = async (waiting: DeliveredMessage[]) => {
    if (actor.broken) return waiting.map(() => dead('the endpoint has no such member'))
    handled.push(...waiting.map(({ id }) => id))
    return waiting.map(done)
  }
  const webhook = ({ broker }: Runtime) => ({
    attach: async () => [await broker.consume(QUEUE, handle, { prefetch: 10 })],
  })
  return { actor, services: { webhook, dashboard: createDashboardService } }
}

async function letDie({ engines: { broker } }: Countersign, ids: readonly string[]): Promise<void> {
  for (const id of ids) await broker.publish(QUEUE, { id, body: { event_id: id, note: 'kept' } })
  await eventually(async () => expect((await broker.depth(QUEUE)).dead).to.equal(ids.length))
}

describeInBrowser('the queues', (open, start) => {
  it('show dead letters, requeue and drop them, some or all', async () => {
    const { actor, services } = createBuggyWebhook()
    const countersign = await start({ services })
    await letDie(countersign, ['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5'])
    const { page } = await open.operator(countersign)
    await page.goto('/queues')
    const row = page.getByRole('table', { name: 'Queues' }).getByRole('row', { name: new RegExp(`^${QUEUE}`) })
    expect((await row.innerText()).replace(/\s+/g, ' ')).to.match(/0 none .* 1 5 Show$/)

    // The only queue with dead letters is shown at once.
    const letters = page.getByRole('region', { name: `Dead letters of ${QUEUE}` })
    await letters.getByText('the endpoint has no such member').first().waitFor()
    await expectAccessibleInEveryLook(page)
    await letters.getByRole('button', { name: 'Open evt_1' }).click()
    const dialog = page.getByRole('dialog', { name: 'Dead letter' })
    await dialog.getByText('"note": "kept"').waitFor()
    await expectAccessibleInEveryLook(page)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })

    await letters.getByRole('checkbox', { name: 'Select evt_1' }).check()
    await letters.getByRole('checkbox', { name: 'Select evt_2' }).check()
    await letters.getByRole('button', { name: 'Drop selected' }).click()
    await page.getByRole('dialog', { name: 'Drop 2 letters?' }).getByRole('button', { name: 'Drop 2 letters' }).click()
    await page.getByText('2 letters dropped.').waitFor()
    await letters.getByText('evt_2').waitFor({ state: 'detached' })

    actor.broken = false
    await letters.getByRole('checkbox', { name: 'Select evt_3' }).check()
    await letters.getByRole('button', { name: 'Requeue selected' }).click()
    await page.getByText('1 letter requeued.').waitFor()
    await eventually(() => expect(actor.handled).to.deep.equal(['evt_3']))
    await letters.getByRole('button', { name: 'Requeue all' }).click()
    await page.getByText('2 letters requeued.').waitFor()
    await eventually(() => expect(actor.handled).to.have.members(['evt_3', 'evt_4', 'evt_5']))
    await letters.getByText('No dead letters.').waitFor()
    expect((await countersign.engines.broker.depth(QUEUE)).dead).to.equal(0)
  })

  it('drop all letters only when asked twice, and notice new ones', async () => {
    const { services } = createBuggyWebhook()
    const countersign = await start({ services })
    const { page } = await open.operator(countersign, { movesClock: true })
    await page.clock.install()
    await page.goto('/queues')
    await page.getByText('No dead letters.').waitFor()
    await letDie(countersign, ['evt_1', 'evt_2'])
    await page.clock.fastForward(6_000)
    const letters = page.getByRole('region', { name: `Dead letters of ${QUEUE}` })
    await letters.getByText('evt_1').waitFor()
    const all = letters.getByRole('checkbox', { name: 'Select all on this page' })
    await all.check()
    await letters.getByText('2 selected').waitFor()
    await all.uncheck()
    await letters.getByText('2 selected').waitFor({ state: 'detached' })
    await letters.getByRole('button', { name: 'Drop all' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect((await countersign.engines.broker.depth(QUEUE)).dead).to.equal(2)
    await letters.getByRole('button', { name: 'Drop all' }).click()
    await page.getByRole('button', { name: 'Drop all letters' }).click()
    await page.getByText('2 letters dropped.').waitFor()
    await letters.getByText('No dead letters.').waitFor()
  })

  it('say which role is missing where messages wait and nothing takes them', async () => {
    const countersign = await start({ services: { dashboard: createDashboardService } })
    // On the embedded engines it resolves when a consumer takes the message, which none does.
    void countersign.engines.broker.publish('channel.sms', { id: 'dlv_1', body: {} }).catch(() => {})
    const { page } = await open.operator(countersign)
    await page.goto('/queues')
    await page.getByText('1 message in channel.sms, and nothing takes them. Start the role channel:sms').waitFor()
  })
})

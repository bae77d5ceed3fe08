// A Countersign that is killed and started again on the same site, with an app that pays for its messages. Every send has a recipient and
// an idempotency key of its own, so that a send without an answer can be repeated.
import { expect } from 'chai'
import { type Answer, ask, createCaller } from './api-caller.ts'
import type { CrashPoint } from './crash.ts'
import { eventually } from './eventually.ts'
import type { KillableProcess, Processes } from './processes.ts'
import type { EngineSet } from './site.ts'

const APP = 'app_burst'
const KEY = 'sk_live_burst0123456789'
const COMPANY = 'cmp_burst'
/** Of every message. */
export const PRICE = 40_000
export const OPENING_BALANCE = 100_000 * PRICE
const TOKEN = 'a-token-of-the-operator'

const highLimit = [{ max: 100_000, seconds: 60 }]
const bootstrapOf = (settings: object) => ({
  prices: [{ channel: 'sms', country: '*', micros: PRICE }],
  companies: [
    {
      id: COMPANY,
      name: 'Burst',
      balance: OPENING_BALANCE,
      apps: [
        {
          id: APP,
          name: 'Burst',
          settings: { limits: { app_without_client_ip: highLimit }, ...settings },
          keys: [{ id: 'key_burst', key: KEY }],
          providers: [{ name: 'box', channel: 'sms', type: 'sandbox', config: {} }],
        },
      ],
    },
  ],
})

interface BurstOptions {
  /** Of the app. */
  settings?: object
  /** When its fast clock starts. */
  since?: number
}

export interface BurstSite {
  start(point?: CrashPoint): Promise<KillableProcess>
  /** Null when the request got no answer, or 503, which may be repeated. */
  send(url: string, recipient: string): Promise<Answer | null>
  /** Waits until the verification is delivered, by exactly one message to its recipient. */
  expectDelivered(url: string, recipient: string, otp_id: string): Promise<void>
  otpIds(url: string): Promise<string[]>
  deliveredEvents(url: string): Promise<string[]>
  /** The newest entries of the company's ledger, newest first. Asking moves to the ledger what still waits in the company's document. */
  ledger(url: string): Promise<{ kind: string; otp_id: string | null; delivery_id: string | null }[]>
  /** Waits until the balance is as expected and the reconciliation of the company finds no problem. */
  expectBalance(url: string, expected: number): Promise<void>
}

export async function createBurstSite(
  { site, crashing }: Pick<Processes, 'site' | 'crashing'>,
  engines: EngineSet,
  { settings = { spend_caps: { '*': OPENING_BALANCE } }, since = Date.now() }: BurstOptions = {},
): Promise<BurstSite> {
  const fresh = await site(engines, {
    ADMIN_TOKEN: TOKEN,
    LOG_LEVEL: 'info',
    CHANNEL_BACKOFF: '200',
    WEBHOOK_BACKOFF: '200',
  })
  const BOOTSTRAP_FILE = await fresh.write('bootstrap.json', bootstrapOf(settings))
  const here = { ...fresh, env: { ...fresh.env, BOOTSTRAP_FILE, SINCE: String(since) } }

  const items = async <T>(url: string, path: string): Promise<T[]> => {
    const found: T[] = []
    for (let cursor = ''; ; ) {
      const { body } = await ask(`${url}/admin/v1/apps/${APP}/${path}?limit=100${cursor}`, { token: TOKEN })
      found.push(...body.items)
      if (body.next_cursor === null) return found
      cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`
    }
  }

  return {
    async start(point) {
      const { ready, kill, exited } = crashing(here, { point })
      return { url: await ready(), kill, exited }
    },
    send: (url, recipient) =>
      createCaller(url, KEY)
        .send(recipient, { idempotency: `burst ${recipient}` })
        .then(
          answer => (answer.status === 503 ? null : answer),
          () => null,
        ),
    expectDelivered: (url, recipient, otp_id) =>
      eventually(async () => {
        const { status, body } = await createCaller(url, KEY).status(otp_id)
        expect(status, `${otp_id} is there`).to.equal(200)
        expect(body.deliveries.map((one: { status: string }) => one.status)).to.deep.equal(['delivered'])
        const inbox = await ask(`${url}/admin/v1/sandbox/messages?recipient=${encodeURIComponent(recipient)}`, {
          token: TOKEN,
        })
        expect(inbox.body.map((message: { otp_id: string }) => message.otp_id)).to.deep.equal([otp_id])
      }),
    otpIds: async url => (await items<{ otp_id: string }>(url, 'verifications')).map(({ otp_id }) => otp_id),
    expectBalance: (url, expected) =>
      eventually(async () => {
        const { body } = await ask(`${url}/admin/v1/companies/${COMPANY}/reconciliation`, { token: TOKEN })
        expect(body.problems).to.deep.equal([])
        expect([body.balance, body.sum]).to.deep.equal([expected, expected])
      }),
    ledger: async url =>
      (await ask(`${url}/admin/v1/companies/${COMPANY}/ledger?limit=100`, { token: TOKEN })).body.items,
    deliveredEvents: async url =>
      (await items<{ type: string; payload: { otp_id: string } }>(url, 'events'))
        .filter(({ type }) => type === 'delivery.delivered')
        .map(({ payload }) => payload.otp_id),
  }
}

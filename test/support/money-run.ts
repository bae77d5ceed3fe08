// Live sends of two companies through two gateways, each of which has a fate of its own: what its vendor and its caller do. The gateways
// count what they accept, so that their count can be compared with the ledger. In: the processes of a site, which may die and start again.
import { expect } from 'chai'
import { type Answer, ask, type Caller, createCaller } from './api-caller.ts'
import { eventually } from './eventually.ts'
import type { Site } from './site.ts'
import { type GatewayMessage, gatewayCall, type HttpGateway, startHttpGateway } from './vendors/http-gateway.ts'
import type { ReceiptStatus, Script } from './vendors/vendor.ts'

/** What becomes of a send, in turn. */
const FATES = [
  'silent',
  'delivered',
  'failed',
  'failed, then delivered',
  'delivered, then failed',
  'approved',
  'failed, then approved',
  'sent again with its idempotency key',
  'resent',
  'canceled during the call',
  'erased during the call',
  'refused by its first provider',
  'not answered by its first provider',
  'not answered',
  'not answered, and canceled',
] as const
type Fate = (typeof FATES)[number]

const RECEIPTS: Partial<Record<Fate, readonly ReceiptStatus[]>> = {
  delivered: ['delivered'],
  failed: ['failed'],
  'failed, then delivered': ['failed', 'delivered'],
  'delivered, then failed': ['delivered', 'failed'],
  'failed, then approved': ['failed'],
}

const TOKEN = 'a-token-of-the-operator'
const COMPANIES = ['rich', 'poor'] as const
type CompanyName = (typeof COMPANIES)[number]
/** Each so many sends, one is of the company whose balance does not pay for all. */
const POOR_EVERY = 6
const PRICES = [40_000, 55_001, 39_999, 70_000, 33_333]
const FIRST_NUMBER = 5_560_000
const CALLERS = 48
/** A process may take a while to start on a busy machine. */
const WITHIN_MS = 300_000
const MAX_PAGE_SIZE = 100

export interface Entry {
  kind: string
  micros: number
  balance_after: number
  at: string
  otp_id: string | null
  delivery_id: string | null
  provider: string | null
  exceptions: string[]
}

interface Statement {
  opening_micros: number
  closing_micros: number
  settled_until: string | null
  rows: { charged_micros: number; refunded_micros: number; recharged_micros: number }[]
  credits_micros: number
  charges_micros: number
  refunds_micros: number
  recharges_micros: number
  exception_count: number
}

interface PaidVerification {
  otp_id: string
  deliveries: { delivery_id: string; status: string; micros: number; charge?: string }[]
}

export interface MoneyRun {
  /** What the first process needs: the companies, their opening balances and the first price. */
  env: Record<string, string>
  /** Says where the process is that answers now. */
  setUrl(url: string): void
  /** Makes all sends, and changes prices meanwhile. Resolves once every caller and every vendor has done its part. */
  play(): Promise<void>
  /** Resolves once so many of all sends have been played. */
  untilPlayed(share: number): Promise<void>
  /** How often the gateways accepted each delivery. */
  accepted(): Map<string, number>
  /** Deliveries of which a gateway said that they failed. */
  reportedFailed: ReadonlySet<string>
  /** What sends and resends were answered in place of 200, and how often. */
  refusals: Readonly<Record<string, number>>
  balance(company: CompanyName): Promise<number>
  problems(company: CompanyName): Promise<string[]>
  /** When the newest entry before a time was entered. */
  lastEntryBefore(company: CompanyName, time: number): Promise<string>
  /** Oldest first. */
  ledger(company: CompanyName): Promise<Entry[]>
  ledgerFile(company: CompanyName): Promise<string>
  statements(company: CompanyName, months: readonly string[]): Promise<Statement[]>
  verifications(company: CompanyName): Promise<PaidVerification[]>
  close(): Promise<void>
}

export const MONEY_COMPANIES = COMPANIES

export async function createMoneyRun(site: Site, sends: number): Promise<MoneyRun> {
  let url = ''
  let played = 0
  const refusals: Record<string, number> = {}
  const arrivals = new Map<string, GatewayMessage[]>()
  const accepted = new Map<string, number>()
  const reportedFailed = new Set<string>()
  const erasures = new Map<string, Promise<unknown>>()
  const gateways = new Map<string, HttpGateway>()

  function countRefusal({ body: { type, cause } }: Answer): void {
    const why = cause === undefined ? type : `${type}, ${cause}`
    refusals[why] = (refusals[why] ?? 0) + 1
  }

  const nthOf = (recipient: string): number => Number(recipient.slice('+1415'.length)) - FIRST_NUMBER
  const recipientOf = (nth: number): string => `+1415${FIRST_NUMBER + nth}`
  const fateOf = (nth: number): Fate => FATES[nth % FATES.length] as Fate
  const companyOf = (nth: number): CompanyName => (nth % POOR_EVERY === 0 ? 'poor' : 'rich')
  const keyOf = (company: CompanyName): string => `sk_live_${company}0123456789`

  /** Repeats a call while no process answers it. */
  const untilAnswered = (call: () => Promise<Answer>): Promise<Answer> =>
    eventually(async () => {
      const answer = await call()
      expect(answer.status, answer.text).not.to.equal(503)
      return answer
    }, WITHIN_MS)
  const admin = async (path: string, request: RequestInit = {}): Promise<Answer> => {
    const answer = await untilAnswered(() => ask(`${url}/admin/v1${path}`, { token: TOKEN, ...request }))
    expect(answer.status, answer.text).to.equal(200)
    return answer
  }
  const call = (nth: number, make: (caller: Caller) => Promise<Answer>): Promise<Answer> =>
    untilAnswered(() => make(createCaller(url, keyOf(companyOf(nth)))))

  const erase = (nth: number): Promise<unknown> =>
    admin(`/apps/app_${companyOf(nth)}/erase`, {
      method: 'POST',
      body: JSON.stringify({ recipient: recipientOf(nth) }),
    })

  function scriptFor(gateway: string, { recipient, delivery_id }: { recipient: string; delivery_id: string }): Script {
    const nth = nthOf(recipient)
    const fate = fateOf(nth)
    if (fate === 'refused by its first provider' && gateway === 'main') return { fault: { kind: 'broken' } }
    accepted.set(delivery_id, (accepted.get(delivery_id) ?? 0) + 1)
    const requestBody = { recipient, delivery_id }
    arrivals.set(recipient, [...(arrivals.get(recipient) ?? []), { delivery_id, requestBody }])
    if (fate === 'erased during the call') {
      if (!erasures.has(recipient)) erasures.set(recipient, erase(nth))
      return { fault: { kind: 'slow', ms: 600 } }
    }
    if (fate === 'not answered by its first provider' && gateway === 'main') return { fault: { kind: 'hang' } }
    if (fate === 'not answered' || fate === 'not answered, and canceled') return { fault: { kind: 'hang' } }
    return { fault: { kind: 'slow', ms: fate === 'canceled during the call' ? 300 : 30 } }
  }

  const codes = new Map<string, string>()
  for (const name of ['main', 'spare']) {
    const gateway = await startHttpGateway()
    gateway.always(({ body }) => {
      const message = JSON.parse(body.toString()) as { recipient: string; delivery_id: string; text: string }
      codes.set(message.delivery_id, /\b\d{6}\b/.exec(message.text)?.[0] ?? '')
      return scriptFor(name, message)
    })
    gateways.set(name, gateway)
  }
  const main = gateways.get('main') as HttpGateway

  /** Null where no gateway took the message: their breakers may be open after a kill, or it was erased before. */
  const arrival = (nth: number, otp_id: string): Promise<GatewayMessage | null> =>
    eventually(async () => {
      const [first] = arrivals.get(recipientOf(nth)) ?? []
      if (first) return first
      const { status, body } = await call(nth, caller => caller.status(otp_id))
      const hasFailed = body.deliveries?.every((one: { status: string }) => one.status === 'failed')
      if (status === 404 || hasFailed) return null
      throw new Error(`the message of send ${nth} has not arrived`)
    }, WITHIN_MS)

  /** A vendor repeats a receipt until it is answered. */
  async function report(nth: number, message: GatewayMessage, status: ReceiptStatus): Promise<void> {
    const { delivery_id } = message
    const body = JSON.stringify({ delivery_id, status })
    if (status === 'failed') reportedFailed.add(delivery_id)
    await eventually(async () => {
      const callback = `${url}/callbacks/app_${companyOf(nth)}/main`
      expect(await main.call(gatewayCall(callback, body, main.secret, Date.now()))).to.equal(200)
    }, WITHIN_MS)
  }

  async function playOne(nth: number): Promise<void> {
    const fate = fateOf(nth)
    const recipient = recipientOf(nth)
    const send = () => call(nth, caller => caller.send(recipient, { idempotency: `send ${nth}` }))
    const sent = await send()
    if (sent.status === 402) {
      expect(companyOf(nth), sent.text).to.equal('poor')
      return countRefusal(sent)
    }
    // The first answer may have been lost with its process, and its verification erased since.
    expect(sent.status, sent.text).to.equal(200)
    const { otp_id } = sent.body
    if (fate === 'sent again with its idempotency key')
      for (const again of await Promise.all([send(), send()])) expect(again.body.otp_id).to.equal(otp_id)
    if (fate === 'canceled during the call') await call(nth, caller => caller.cancel(otp_id))
    if (['silent', 'not answered', 'canceled during the call'].includes(fate)) return
    const message = await arrival(nth, otp_id)
    if (message === null) return
    if (fate === 'not answered, and canceled') await call(nth, caller => caller.cancel(otp_id))
    if (fate === 'resent') {
      const resent = await call(nth, caller => caller.resend(otp_id))
      if (resent.status !== 200) countRefusal(resent)
    }
    for (const status of RECEIPTS[fate] ?? []) await report(nth, message, status)
    if (fate === 'approved' || fate === 'failed, then approved') {
      const verified = await call(nth, caller => caller.verify(otp_id, codes.get(message.delivery_id) ?? ''))
      // An approval whose answer was lost may be too old to be given again.
      expect([200, 409], verified.text).to.include(verified.status)
    }
    if (fate === 'erased during the call') await erasures.get(recipient)
  }

  const untilPlayed = (share: number): Promise<void> =>
    eventually(() => {
      expect(played).to.be.at.least(sends * share)
    }, WITHIN_MS * PRICES.length)

  const setPrice = (micros: number): Promise<Answer> =>
    admin('/prices', { method: 'PUT', body: JSON.stringify({ prices: [{ channel: 'sms', country: '*', micros }] }) })

  async function changePrices(): Promise<void> {
    // The first one is in the bootstrap file.
    for (const [nth, micros] of PRICES.slice(1).entries()) {
      await untilPlayed((nth + 1) / PRICES.length)
      await setPrice(micros)
    }
  }

  async function allPages<T>(path: string): Promise<T[]> {
    const found: T[] = []
    for (let cursor = ''; ; ) {
      const { body } = await admin(`${path}?limit=${MAX_PAGE_SIZE}${cursor}`)
      found.push(...body.items)
      if (body.next_cursor === null) return found
      cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`
    }
  }

  const provider = (name: string) => {
    const { url: gatewayUrl, secret } = gateways.get(name) as HttpGateway
    return { name, channel: 'sms', type: 'http', config: { url: gatewayUrl, secret } }
  }
  const highLimit = [{ max: 1_000_000, seconds: 60 }]
  const appOf = (company: CompanyName) => ({
    id: `app_${company}`,
    name: company,
    settings: { limits: { app_without_client_ip: highLimit }, resend_cooldown_seconds: [0] },
    keys: [{ id: `key_${company}`, key: keyOf(company) }],
    providers: ['main', 'spare'].map(provider),
  })
  const balances = { rich: 1_000 * sends * 1_000, poor: Math.ceil(sends / POOR_EVERY / 2) * 40_000 }
  const companies = COMPANIES.map(name => ({
    id: `cmp_${name}`,
    name,
    balance: balances[name],
    apps: [appOf(name)],
  }))
  const bootstrap = { prices: [{ channel: 'sms', country: '*', micros: PRICES[0] }], companies }

  return {
    env: { BOOTSTRAP_FILE: await site.write('bootstrap.json', bootstrap) },
    setUrl: running => {
      url = running
    },
    async play() {
      let next = 0
      const playMany = async (): Promise<void> => {
        while (next < sends) {
          const nth = next
          next += 1
          await playOne(nth)
          played += 1
        }
      }
      await Promise.all([changePrices(), ...Array.from({ length: CALLERS }, playMany)])
      await Promise.all(erasures.values())
    },
    untilPlayed,
    accepted: () => accepted,
    reportedFailed,
    refusals,
    balance: async company => (await admin(`/companies/cmp_${company}`)).body.balance,
    problems: async company => (await admin(`/companies/cmp_${company}/reconciliation`)).body.problems,
    lastEntryBefore: async (company, time) =>
      (await admin(`/companies/cmp_${company}/ledger?limit=1&to=${new Date(time).toISOString()}`)).body.items[0].at,
    ledger: async company => (await allPages<Entry>(`/companies/cmp_${company}/ledger`)).reverse(),
    ledgerFile: async company =>
      (await admin(`/companies/cmp_${company}/ledger`, { headers: { accept: 'text/csv' } })).text,
    statements: async (company, months) => {
      const all: Statement[] = []
      for (const month of months) all.push((await admin(`/companies/cmp_${company}/statement?month=${month}`)).body)
      return all
    },
    verifications: company => allPages<PaidVerification>(`/apps/app_${company}/verifications`),
    async close() {
      for (const gateway of gateways.values()) gateway.release()
      await Promise.all([...gateways.values()].map(gateway => gateway.close()))
    },
  }
}

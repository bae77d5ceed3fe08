// kill -9 between any two steps of a delivery: the message is sent. Where another provider is left, none is called
// twice; where none is, the same one is called once more.
import { expect } from 'chai'
import { createCaller } from '../../support/api-caller.ts'
import type { CrashPoint } from '../../support/crash.ts'
import { eventually } from '../../support/eventually.ts'
import { stepsOn } from '../../support/fault-rounds.ts'
import { PUBLIC_URL } from '../../support/live-flow.ts'
import { useProcesses } from '../../support/processes.ts'
import { onEachEngineSet } from '../../support/site.ts'
import { type HttpGateway, startHttpGateway } from '../../support/vendors/http-gateway.ts'
import { startTwilio, type Twilio } from '../../support/vendors/twilio.ts'

const KILLED = { code: null, signal: 'SIGKILL' }
const KEY = 'sk_live_0123456789abcdef'

const AFTER_THE_RECORD: CrashPoint = { port: 'store', method: 'attempts.insert', nth: 1, when: 'after' }
const AFTER_THE_CALL: CrashPoint = { port: 'store', method: 'attempts.update', nth: 1, when: 'before' }
const BEFORE_THE_REPORT: CrashPoint = {
  port: 'broker',
  method: 'publish',
  queue: 'otp.reports',
  nth: 1,
  when: 'before',
}

/** `calls`: how often the providers `main` and `spare` are called. */
const STEPS: { what: string; point: CrashPoint; providers?: string[]; calls: [main: number, spare: number] }[] = [
  {
    what: 'after it recorded an attempt and before it called: the next provider is called',
    point: AFTER_THE_RECORD,
    calls: [0, 1],
  },
  {
    what: 'after the call and before it stored the answer: the next provider is called, as no receipt came',
    point: AFTER_THE_CALL,
    calls: [1, 1],
  },
  {
    what: 'after it recorded an attempt at its only provider (Twilio), and before it called: that one is called',
    point: AFTER_THE_RECORD,
    providers: ['main'],
    calls: [1, 0],
  },
  {
    what: 'after it called its only provider (Twilio) and before it stored the answer: that one is called once more',
    point: AFTER_THE_CALL,
    providers: ['main'],
    calls: [2, 0],
  },
  {
    what: 'after it called its only provider (a gateway) and before it stored the answer: that one is called once more',
    point: AFTER_THE_CALL,
    providers: ['spare'],
    calls: [0, 2],
  },
  {
    what: 'after it recorded an attempt at its only provider (a gateway) and before it called: that one is called',
    point: AFTER_THE_RECORD,
    providers: ['spare'],
    calls: [0, 1],
  },
  {
    what: 'before it published its report: the report is published, and no provider is called again',
    point: BEFORE_THE_REPORT,
    calls: [1, 0],
  },
]

onEachEngineSet('a channel actor that is killed', engines => {
  const { site, crashing } = useProcesses()
  let url = ''
  let [twilio, gateway] = [] as unknown as [Twilio, HttpGateway]

  beforeEach(async () => {
    twilio = await startTwilio({ route: to => to.replace(PUBLIC_URL, url) })
    gateway = await startHttpGateway()
  })
  afterEach(() => Promise.all([twilio.close(), gateway.close()]))

  const bootstrap = (names: string[]) => {
    const { account_sid, auth_token, url: base_url } = twilio
    const config = { account_sid, auth_token, base_url, from: '+15550001111' }
    const providers = [
      { name: 'main', channel: 'sms', type: 'twilio', config },
      { name: 'spare', channel: 'sms', type: 'http', config: { url: gateway.url } },
    ]
    const named = providers.filter(({ name }) => names.includes(name))
    const app = { id: 'app_shop', name: 'Shop', keys: [{ id: 'key_a', key: KEY }], providers: named }
    return { companies: [{ id: 'cmp_acme', name: 'Acme', apps: [app] }] }
  }

  /** Sends, crashes at `point` and starts again. Answers how often `main` and `spare` were called, once the delivery is sent. */
  async function callsAfterCrash(point: CrashPoint, names = ['main', 'spare']): Promise<[number, number]> {
    const here = await site(engines, {
      PUBLIC_URL,
      ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
      CHANNEL_BACKOFF: '200',
      WEBHOOK_BACKOFF: '200',
      PROVIDER_TIMEOUT: '500',
      UNKNOWN_WAIT: '500',
    })
    const env = { BOOTSTRAP_FILE: await here.write('bootstrap.json', bootstrap(names)) }
    const dying = crashing(here, { point, env })
    url = await dying.ready()
    const sent = await createCaller(url, KEY).send('+14155560001')
    expect(sent.status, sent.text).to.equal(200)
    expect(await dying.exited).to.deep.equal(KILLED)
    url = await crashing(here, { env }).ready()
    await eventually(async () => {
      const { deliveries } = (await createCaller(url, KEY).status(sent.body.otp_id)).body
      expect(deliveries[0].status).to.equal('sent')
    })
    return [twilio.messages.length, gateway.messages.length]
  }

  for (const { what, point, providers, calls } of stepsOn(engines, STEPS))
    it(what, async () => expect(await callsAfterCrash(point, providers)).to.deep.equal(calls))

  it('during a callback: the vendor gets no answer, and its repeated callback is accepted', async () => {
    twilio.always({ early: true, receipts: ['delivered'] })
    // The receipt settled the call before the crash, so no other provider is called.
    expect(await callsAfterCrash(BEFORE_THE_REPORT)).to.deep.equal([1, 0])
    expect(twilio.calls.map(({ status }) => status)).to.deep.equal([null])
    const [message] = twilio.messages
    expect(message && (await twilio.report(message, 'delivered'))).to.equal(200)
  })
})

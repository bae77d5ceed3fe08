// Plays the model's moves over HTTP. In: an app with the settings of the model's start, and named events. Out: the HTTP answer, or null
// for receipts, messages and reminders, which do not come from a client: they are published to the broker or given to the sandbox.
import { randomUUID } from 'node:crypto'
import { createKeyring, type Keyring } from '../../infra/crypto/keyring.ts'
import type { Channel } from '../../machines/channels.ts'
import type { ReportedStatus } from '../../machines/otp.ts'
import type { OtpDoc } from '../../services/domain/verifications/documents.ts'
import { codeOf } from '../../services/domain/verifications/message-content.ts'
import type { OtpReport } from '../../services/domain/verifications/queue-messages.ts'
import { type Answer, type Caller, createCaller } from './api-caller.ts'
import { type Flow, freshNumber, wrongCode } from './flow.ts'
import { type NamedEvent, STARTS, type StartName } from './otp.paths.ts'
import { defaultRules, device, type StartOptions } from './otp.ts'

export interface ReplayApp {
  app: string
  starter: Caller
  server: Caller
  otherServer: Caller
  device: Caller
}

export interface Replay {
  otp_id: string
  /** When the verification was sent; the model's times are relative to it. */
  startedAt: number
  /** Reads the document from the store. */
  stored(): Promise<OtpDoc>
  play(event: NamedEvent): Promise<Answer | null>
}

const MAX_WRONG_CODES = 4

/** Makes an app for a start of the model. Its callers do not advance the clock, so that times are those of the model. */
export async function createReplayApp(flow: Flow, name: StartName): Promise<ReplayApp> {
  const start: StartOptions = STARTS[name]
  const rules = { ...defaultRules, ...start.rules }
  const plenty = [{ max: 10_000, seconds: 60 }]
  const { app, server } = await flow.createTenant({
    verify_attempts: rules.verify_attempts,
    send_attempts: rules.send_attempts,
    resend_cooldown_seconds: rules.cooldowns_ms.map(ms => ms / 1000),
    auto_fallback: rules.auto_fallback,
    routing: { default: start.order ?? ['sms', 'whatsapp', 'telegram'] },
    channels: { whatsapp: { mode: start.whatsapp ?? 'template', business_number: '+15550001111' } },
    limits: {
      recipient: plenty,
      app_without_client_ip: plenty,
      recipient_verify: [{ max: MAX_WRONG_CODES, seconds: 3600 }],
    },
  })
  const withoutTick = ({ key }: Caller): Caller => createCaller(flow.countersign.url, key)
  const callers = {
    server: withoutTick(server),
    otherServer: withoutTick(await flow.createKey(app, 'server')),
    device: withoutTick(await flow.createKey(app, 'publishable')),
  }
  return { app, ...callers, starter: start.started_by === device ? callers.device : callers.server }
}

export async function startReplay(flow: Flow, replayApp: ReplayApp): Promise<Replay> {
  const { broker, store } = flow.countersign.engines
  const keyring = keyringOf(flow)
  const to = freshNumber()
  const sent = await replayApp.starter.send(to)
  if (sent.status !== 200) throw new Error(`not sent: ${sent.text}`)
  const otp_id: string = sent.body.otp_id
  const startedAt = flow.clock.now()
  let token = `otp_vt_${otp_id.slice('otp_'.length)}${'A'.repeat(43)}`

  const stored = async (): Promise<OtpDoc> => {
    const doc = (await store.docs('otps').get([otp_id])).get(otp_id)
    if (!doc) throw new Error(`${otp_id} is gone`)
    return doc
  }
  const report = async (body: OtpReport): Promise<null> => {
    await broker.publish('otp.reports', { id: randomUUID(), body })
    return null
  }
  const receipt = async (status: ReportedStatus, delivery_id?: string): Promise<null> => {
    const latest = (await stored()).context.deliveries.at(-1)?.delivery_id ?? 'dlv_none'
    const at = flow.clock.now()
    return report({ type: 'delivery.reported', otp_id, delivery_id: delivery_id ?? latest, status, at })
  }
  const message = async (text?: string, from: object = { from: to }): Promise<null> => {
    const url: string | null = (await replayApp.server.status(otp_id)).body.action_url
    const link = url === null ? 'hello' : (new URL(url).searchParams.get('text') ?? '')
    await flow.admin('POST', '/sandbox/inbound', { app_id: replayApp.app, ...from, text: text ?? link })
    return null
  }
  const verify = async (by: Caller, right: boolean): Promise<Answer> => {
    const code = codeOf(keyring, (await stored()).context)
    const answer = await by.verify(otp_id, right ? code : wrongCode(code))
    token = answer.body.verification_token ?? token
    return answer
  }
  /** Enters wrong codes for other verifications of the same recipient until the recipient is locked. */
  const verifyLocked = async (by: Caller): Promise<Answer> => {
    for (let status = 200; status !== 429; ) {
      const decoy: string = (await replayApp.starter.send(to)).body.otp_id
      do status = (await by.verify(decoy, '0000000')).status
      while (status === 200)
    }
    return verify(by, true)
  }
  const resendUnusable = async (): Promise<Answer> => {
    const channels: Channel[] = ['sms', 'whatsapp', 'telegram']
    const all = (enabled: boolean) => ({ channels: Object.fromEntries(channels.map(name => [name, { enabled }])) })
    await flow.changeSettings(replayApp.app, all(false))
    const answer = await replayApp.starter.resend(otp_id)
    await flow.changeSettings(replayApp.app, all(true))
    return answer
  }
  const needsSend = (): Promise<null> => Promise.reject(new Error('only a send joins'))
  const needsMoney = (): Promise<null> => Promise.reject(new Error('a test key pays nothing'))
  const { server, otherServer, device, starter } = replayApp

  const moves: Record<NamedEvent['move'], () => Promise<Answer | null>> = {
    'verify right': () => verify(server, true),
    'verify wrong': () => verify(server, false),
    join: needsSend,
    'verify wrong, joined id': needsSend,
    'cancel, joined id': needsSend,
    'verify right, another key': () => verify(otherServer, true),
    'verify right, locked': () => verifyLocked(server),
    'verify right, too late': () => verify(server, true),
    'verify right, a minute later': () => verify(server, true),
    'verify right, device': () => verify(device, true),
    'verify wrong, device': () => verify(device, false),
    'verify right, device, locked': () => verifyLocked(device),
    resend: () => starter.resend(otp_id),
    'resend sms': () => starter.resend(otp_id, 'sms'),
    'resend whatsapp': () => starter.resend(otp_id, 'whatsapp'),
    'resend telegram': () => starter.resend(otp_id, 'telegram'),
    'resend, too early': () => starter.resend(otp_id),
    'resend, too late': () => starter.resend(otp_id),
    'resend, nothing usable': resendUnusable,
    cancel: () => server.cancel(otp_id),
    'cancel, too late': () => server.cancel(otp_id),
    lapse: () => report({ type: 'otp.due', otp_id }),
    'lapse, too early': () => report({ type: 'otp.due', otp_id }),
    'receipt: sent': () => receipt('sent'),
    'receipt: delivered': () => receipt('delivered'),
    'receipt: failed': () => receipt('failed'),
    'receipt: failed, fallback unpaid': needsMoney,
    'receipt: the first failed': async () => receipt('failed', (await stored()).context.deliveries[0]?.delivery_id),
    'receipt: of nothing known': () => receipt('delivered', 'dlv_unknown'),
    message: () => message(),
    'message, answer unpaid': needsMoney,
    'message without a number': () => message(undefined, { from_user_id: 'US.13491208655302741918' }),
    'message on a dead link': () => message('Reference: 23456789ABCDEFGH'),
    'message, too late': () => message(),
    exchange: () => server.exchange(token),
    'exchange, another key': () => otherServer.exchange(token),
    'exchange, forged': () => server.exchange(token.replace(/.$/, last => (last === 'A' ? 'B' : 'A'))),
    'exchange, too late': () => server.exchange(token),
  }
  return { otp_id, startedAt, stored, play: event => moves[event.move]() }
}

const keyringOf = ({ countersign: { secrets } }: Flow): Keyring =>
  createKeyring({ dataKeys: secrets.data, codeSecrets: secrets.code })

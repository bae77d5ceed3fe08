// What a vendor said, passed on to the OTP actor through its durable queue. In: words whose signature was checked, and whose they are.
// Out: reports that are safe. Said twice or in any order, it comes to the same: a report has the id of what it says.
//
// A vendor's word counts for deliveries it was given by this very app and no other: the claim, written before the vendor was called,
// says which those are.
import { createHash } from 'node:crypto'
import type { Broker } from '../../../infra/broker/broker.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import type { OtpReport } from '../../../machines/reports.ts'
import type { ProviderType } from '../../domain/tenancy/providers.ts'
import type { AttemptDoc } from '../../domain/verifications/documents.ts'
import { referencesIn } from '../../domain/verifications/references.ts'
import { inFlight, referenceIndexes } from '../../domain/verifications/sealing.ts'
import { claimId, keptReference, NOBODY } from '../claims.ts'
import type { Heard } from '../provider.ts'

export interface Speaker {
  app_id: string
  /** Its name in the app. */
  provider: string
  type: ProviderType
}

/** Resolves once all of it is safe. */
export type Hear = (speaker: Speaker, heard: readonly Heard[]) => Promise<void>

export interface HeardParts {
  attempts: Pick<Docs<AttemptDoc>, 'get' | 'find'>
  broker: Pick<Broker, 'publish'>
  keyring: Pick<Keyring, 'seal' | 'indexes'>
  clock: Pick<Clock, 'now'>
  log: Logger
  metrics: Pick<Metrics, 'callbacks'>
  /** How many rounds a delivery can have. */
  rounds: number
}

type Receipt = Extract<Heard, { kind: 'receipt' }>
type Message = Extract<Heard, { kind: 'message' }>

/** As far as anyone's name for a message goes. */
const LONGEST_ID = 512
const MOST_CALLS = 10_000
const AT_ONCE = 64

export function hearing({ attempts, broker, keyring, clock, log, metrics, rounds }: HeardParts): Hear {
  const everyRound = Array.from({ length: rounds }, (_, nth) => nth + 1)
  const told = (
    { app_id, provider, type }: Speaker,
    kind: Heard['kind'],
    outcome: string,
    fields: object = {},
  ): void => {
    metrics.callbacks.inc({ provider: type, kind, outcome })
    log[outcome === 'passed_on' ? 'debug' : 'info']({ app_id, provider, outcome, ...fields }, `${kind}.heard`)
  }

  async function callOf({ app_id, provider }: Speaker, receipt: Receipt): Promise<AttemptDoc | undefined> {
    const { delivery_id, reference: given } = receipt
    if (delivery_id !== null && delivery_id.length <= LONGEST_ID) {
      const made = await attempts.get(everyRound.map(round => claimId(delivery_id, provider, round)))
      const mine = [...made.values()].filter(call => call.app_id === app_id && call.provider === provider)
      if (mine.length > 0) return mine.reduce((latest, call) => (call.round > latest.round ? call : latest))
    }
    if (!given || given.length > LONGEST_ID) return undefined
    const reference = keptReference(given)
    return (await attempts.find({ app_id, provider, reference }, { sort: { reference: 1 }, limit: 1 }))[0]
  }

  /** A provider we gave up on may still say that the message arrived, but not that it failed: another has it now. */
  async function isPassedOn({ delivery_id, provider, at }: AttemptDoc): Promise<boolean> {
    const ofDelivery = { _id: { $gte: `${delivery_id}:`, $lt: `${delivery_id};` } }
    const calls = await attempts.find(ofDelivery, { sort: { _id: 1 }, limit: MOST_CALLS })
    return calls.some(call => ![NOBODY, provider].includes(call.provider) && call.at >= at && call.result !== 'failed')
  }

  async function receiptHeard(speaker: Speaker, receipt: Receipt): Promise<void> {
    const call = await callOf(speaker, receipt)
    // A 2xx all the same: a vendor that is told otherwise says it again for days.
    if (!call) return told(speaker, 'receipt', 'unknown')
    const { otp_id, delivery_id } = call
    const { status } = receipt
    const fields = { otp_id, delivery_id, status }
    if (status === 'failed' && (await isPassedOn(call))) return told(speaker, 'receipt', 'superseded', fields)
    const report: OtpReport = { type: 'delivery.reported', otp_id, delivery_id, status, at: clock.now() }
    await broker.publish('otp.reports', { id: `${delivery_id}@${speaker.provider}:${status}`, body: report })
    told(speaker, 'receipt', 'passed_on', fields)
  }

  async function messageHeard(speaker: Speaker, { id, from, text }: Message): Promise<void> {
    const { app_id, provider } = speaker
    const references = referencesIn(text).flatMap(reference => referenceIndexes(keyring, reference))
    if (references.length === 0) return told(speaker, 'message', 'without_reference')
    const sealed_from = keyring.seal(from, inFlight.from)
    const report: OtpReport = {
      ...{ type: 'message.received', app_id, mode: 'live', sealed_from, references, at: clock.now() },
    }
    await broker.publish('otp.reports', { id: messageId(app_id, provider, id), body: report })
    told(speaker, 'message', 'passed_on')
  }

  return async (speaker, heard) => {
    // A vendor may say a lot at once. The engines have others to serve.
    for (let first = 0; first < heard.length; first += AT_ONCE)
      await Promise.all(
        heard
          .slice(first, first + AT_ONCE)
          .map(one => (one.kind === 'receipt' ? receiptHeard(speaker, one) : messageHeard(speaker, one))),
      )
  }
}

/** A vendor's own id, as long as it likes, may hold the sender's number. */
const messageId = (app_id: string, provider: string, id: string): string =>
  `message:${createHash('sha256').update(`${app_id}:${provider}:${id}`).digest('hex')}`

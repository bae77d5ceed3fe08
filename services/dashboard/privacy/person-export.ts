// All that an app keeps of one recipient, in both modes, as one JSON text, for the person who asks for it. In: an app and a recipient. Out:
// the parts of the text. What is sealed is opened; keyed indexes, hashes, salts and codes are left out, because they say nothing about the
// person. A page of documents is in memory at a time, and is read when the client has taken the one before.
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import { eventLoop } from '../../../infra/event-loop.ts'
import { isoTime, isoTimeOrNull } from '../../../infra/iso-time.ts'
import { scanAll } from '../../../infra/store/scan.ts'
import { OPT_OUT_CHANNELS } from '../../../machines/opt-out.ts'
import { statusAt } from '../../../machines/otp.code-life.ts'
import { idsOf } from '../../../machines/otp.ids.ts'
import { isMessage } from '../../../machines/otp.queries.ts'
import { MODES, type Otp } from '../../../machines/otp.ts'
import { toCurrentVersion } from '../../../machines/otp.versions.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { findInBlocks } from '../../domain/fraud/numbers.ts'
import type { PersonalCollection } from '../../domain/personal-data.ts'
import { ruleContext } from '../../domain/recipients/documents.ts'
import { ruleIds } from '../../domain/recipients/opt-outs.ts'
import { refusedPerson } from '../../domain/refusals/documents.ts'
import { findAttempts, type OtpDoc } from '../../domain/verifications/documents.ts'
import { atRest, idempotencyKeyContext } from '../../domain/verifications/encryption-context.ts'
import { decisionView } from '../fraud.ts'
import { ruleView } from '../recipient-rules.ts'
import { refusalView } from '../refusals.ts'
import { operatorView } from '../verifications/operator-view.ts'
import { createTimeline } from '../verifications/timeline.ts'
import { eventView } from '../webhook/events.ts'
import { countIds, mailboxCountIndexes, recordIndexes, sandboxFilter } from './recipient-places.ts'
import type { PersonExportAnswer } from './schemas.ts'

export interface ExportDeps {
  store: CountersignStore
  keyring: Pick<Keyring, 'indexes' | 'unseal'>
  clock: Pick<Clock, 'now'>
}

interface Person {
  app_id: string
  recipient: string
}

type Lists = Omit<PersonExportAnswer, 'app_id' | 'recipient' | 'exported_at'>
type Readers = { [List in keyof Lists]: (deps: ExportDeps, person: Person) => AsyncIterable<Lists[List][number]> }

/** The list that shows each collection, some as members of its items. What an erasure removes must have one. */
export const LIST_OF: Record<PersonalCollection | 'events', keyof Lists> = {
  otps: 'verifications',
  attempts: 'verifications',
  events: 'verifications',
  claims: 'verifications',
  metadata_indexes: 'verifications',
  joined_ids: 'verifications',
  sandbox_messages: 'sandbox_messages',
  refusals: 'refusals',
  counters: 'counters',
  fraud_decisions: 'fraud_decisions',
  fraud_numbers: 'fraud_histories',
  fraud_blocks: 'fraud_blocks',
  erasures: 'erasures',
  recipient_rules: 'recipient_rules',
}

export async function* personJson(deps: ExportDeps, person: Person): AsyncGenerator<string> {
  const { app_id, recipient } = person
  const head = JSON.stringify({ app_id, recipient, exported_at: isoTime(deps.clock.now()) })
  yield head.slice(0, -1)
  for (const [list, read] of Object.entries(READERS)) {
    yield `,"${list}":[`
    let separator = ''
    for await (const item of read(deps, person)) {
      yield `${separator}${JSON.stringify(item)}`
      separator = ','
      await eventLoop.turn()
    }
    yield ']'
  }
  yield '}\n'
}

const READERS: Readers = {
  async *verifications(deps, { app_id, recipient }) {
    const filter = { recipient: { $in: recordIndexes(deps.keyring, app_id, recipient) } }
    for await (const doc of scanAll(deps.store.docs('otps'), filter)) yield verificationOf(deps, doc)
  },

  async *sandbox_messages({ store, keyring }, { app_id, recipient }) {
    const filter = sandboxFilter(keyring, app_id, recipient)
    for await (const { _id, otp_id, generation, locale, at } of scanAll(store.docs('sandbox_messages'), filter))
      yield { delivery_id: _id, otp_id, generation, locale, at: isoTime(at) }
  },

  async *refusals({ store, keyring }, { app_id, recipient }) {
    const filter = { recipient: { $in: recordIndexes(keyring, app_id, recipient) } }
    for await (const doc of scanAll(store.docs('refusals'), filter)) {
      const person = refusedPerson(keyring, doc)
      const { otp_id } = doc.judged ?? {}
      yield {
        ...refusalView(doc),
        mode: doc.mode,
        recipient: person?.recipient ?? null,
        client_ip: person?.client_ip ?? null,
        ...(otp_id === undefined ? {} : { otp_id }),
      }
    }
  },

  async *counters({ store, keyring }, { app_id, recipient }) {
    const indexes = [...recordIndexes(keyring, app_id, recipient), ...mailboxCountIndexes(keyring, app_id, recipient)]
    const ids = countIds(app_id, indexes).counters
    const found = await store.docs('counters').get([...new Set(ids.map(({ id }) => id))])
    for (const { _id, windows, locked_until = null, last_at = null } of found.values()) {
      const { mode, what } = ids.find(({ id }) => id === _id) ?? { mode: 'live', what: '' }
      yield {
        mode,
        counts: what ?? '',
        windows: Object.fromEntries(
          Object.entries(windows).map(([name, { count, before = [] }]) => [
            name,
            before.reduce((sum, one) => sum + one, count),
          ]),
        ),
        locked_until: isoTimeOrNull(locked_until),
        last_at: isoTimeOrNull(last_at),
      }
    }
  },

  async *fraud_decisions({ store, keyring }, { app_id, recipient }) {
    const filter = { recipient: { $in: recordIndexes(keyring, app_id, recipient) } }
    for await (const doc of scanAll(store.docs('fraud_decisions'), filter)) yield decisionView(doc)
  },

  async *fraud_histories({ store, keyring }, { app_id, recipient }) {
    const indexes = [...recordIndexes(keyring, app_id, recipient), ...mailboxCountIndexes(keyring, app_id, recipient)]
    const ids = countIds(app_id, indexes).histories
    const found = await store.docs('fraud_numbers').get([...new Set(ids.map(({ id }) => id))])
    for (const { _id, state } of found.values())
      yield {
        mode: ids.find(({ id }) => id === _id)?.mode ?? 'live',
        messages: state.messages.map(isoTime),
        starts: state.starts.map(isoTime),
        approved_at: state.approved_at === 0 ? null : isoTime(state.approved_at),
      }
  },

  async *fraud_blocks({ store, keyring }, { app_id, recipient }) {
    for (const mode of MODES)
      for (const { numbers } of await findInBlocks(store, keyring, { app_id, mode }, recipient))
        for (const { at, verified } of numbers) yield { mode, last_message_at: isoTime(at), verified }
  },

  async *recipient_rules({ store, keyring }, { app_id, recipient }) {
    const ids = MODES.flatMap(mode =>
      OPT_OUT_CHANNELS.flatMap(channel => ruleIds(keyring, { app_id, mode }, recipient, channel)),
    )
    for (const doc of (await store.docs('recipient_rules').get(ids)).values()) {
      const { sealed_recipient, state } = doc
      const shown = sealed_recipient === null ? null : unsealOrNull(keyring, sealed_recipient, ruleContext(doc._id))
      yield { ...ruleView(doc), recipient: shown, holds: state === 'holds' }
    }
  },

  async *erasures({ store, keyring }, { app_id, recipient }) {
    const indexes = new Set(recordIndexes(keyring, app_id, recipient))
    const seen = new Set<number>()
    // Seldom asked for, and short: no index finds one recipient in it.
    for await (const entry of scanAll(store.docs('erasures'))) {
      if (entry.app_id !== app_id || !indexes.has(entry.index) || seen.has(entry.at)) continue
      seen.add(entry.at)
      yield { at: isoTime(entry.at) }
    }
  },
}

/** More than any verification has. */
const MAX_EVENTS = 1_000

async function verificationOf(
  { store, keyring, clock }: ExportDeps,
  doc: OtpDoc,
): Promise<Lists['verifications'][number]> {
  const { value, context: otp } = toCurrentVersion(doc)
  const now = clock.now()
  // The answer in a chat belongs to the verification itself, not to one of its deliveries.
  const owners = [...otp.deliveries.map(({ delivery_id }) => delivery_id), doc._id]
  const [attempts, events, claims] = await Promise.all([
    Promise.all(owners.map(owner => findAttempts(store.docs('attempts'), owner))),
    store
      .docs('events')
      .find({ 'payload.otp_id': { $in: idsOf(otp) }, app_id: doc.app_id }, { sort: { _id: 1 }, limit: MAX_EVENTS }),
    store.docs('claims').get(doc.claims ?? []),
  ])
  const keyOwner = { ...otp, kind: isMessage(otp) ? ('message' as const) : otp.started_by.kind }
  const keys = [...claims.values()].flatMap(({ sealed_key, claimed_at = null }) => {
    const key = sealed_key === undefined ? null : unsealOrNull(keyring, sealed_key, idempotencyKeyContext(keyOwner))
    return key === null ? [] : [{ key, first_used_at: isoTimeOrNull(claimed_at) }]
  })
  return {
    ...operatorView(keyring, doc, now),
    recipient: unsealOrNull(keyring, otp.recipient.sealed, atRest.recipient(otp.otp_id)),
    number_kind: otp.recipient.number_kind ?? null,
    client_ip: otp.client_ip === null ? null : unsealOrNull(keyring, otp.client_ip, atRest.clientIp(otp.otp_id)),
    whatsapp_user_ids: writersOf(keyring, otp),
    circumstances: { ...otp.circumstances },
    // While data keys rotate, there is a document under each.
    idempotency_keys: keys.filter(({ key }, at) => keys.findIndex(one => one.key === key) === at),
    timeline: createTimeline({ otp, status: statusAt(value, otp, now), attempts: attempts.flat(), events }),
    events: events.map(event => ({ ...eventView(keyring, event), request_id: event.trace?.request_id ?? null })),
  }
}

const writersOf = (keyring: ExportDeps['keyring'], { deliveries }: Otp): string[] =>
  deliveries.flatMap(({ delivery_id, writer }) => {
    const id = writer === undefined ? null : unsealOrNull(keyring, writer, atRest.writer(delivery_id))
    return id === null ? [] : [id]
  })

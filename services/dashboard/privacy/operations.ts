// The rotation of DATA_KEYS, and the erasure and the export of a recipient. The audit log keeps a fingerprint: an
// operator who knows the recipient can prove the erasure, and no other reader of the log learns the recipient.

import { z } from 'zod'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { httpException } from '../../../infra/http/problem.ts'
import { isoTime, isoTimeOrNull } from '../../../infra/iso-time.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import { scanAll } from '../../../infra/store/scan.ts'
import { SAMPLE_NUMBER } from '../../../machines/sample-number.ts'
import { ROTATION_ID, type RotationDoc } from '../../domain/privacy/documents.ts'
import { sumCounts } from '../../domain/privacy/erasure.ts'
import { conflict, ok } from '../answers.ts'
import { LINES_TYPE, linesAnswer, parseLines, streamedAnswer, streamOf } from '../lines.ts'
import { operation } from '../operation.ts'
import { recipientFilter, recipientFingerprint, recipientText, recipientToErase } from '../recipients.ts'
import { timeQuery } from '../time-query.ts'
import { createErasures, ZERO_COUNTS } from './erase-recipient.ts'
import { journalLines, replayErasures } from './erasure-journal.ts'
import { personJson } from './person-export.ts'
import {
  EXAMPLE_JOURNAL,
  erasure,
  examplePersonExport,
  journal,
  journalLine,
  personExport,
  privacy,
  type RotationAnswer,
  replay,
} from './schemas.ts'

const eraseBody = {
  schema: z
    .strictObject({ recipient: recipientText })
    .meta({ id: 'EraseRecipientRequest', description: 'The recipient to erase.' }),
  example: { recipient: SAMPLE_NUMBER },
}

const exampleErasure = {
  verifications: 3,
  ended: 1,
  attempts: 4,
  messages: 0,
  events: 2,
  counters: 5,
  refusals: 0,
  decisions: 0,
  idempotency_keys: 1,
  blocks: 0,
  rules: 0,
}
const erased = ok(erasure, 'How many of each were erased.', exampleErasure)

/** Some seven thousand lines. */
const MAX_REPLAY_BYTES = 1024 * 1024

export const privacyOperations = [
  operation({
    id: 'eraseRecipient',
    request: 'POST /apps/{id}/erase',
    role: 'developer',
    allowedWhenClosed: true,
    stepUp: true,
    summary: 'Erase a recipient',
    description: 'All data of one recipient in an app, in both modes. Safe to repeat.',
    body: eraseBody,
    answers: [erased],
    keep: createErasures,
    handle: async ({ ctx, app, body }, { store, keyring, withAudit }, { eraseRecipient }) => {
      const { _id: app_id, company_id } = app
      const recipient = recipientToErase(body.recipient)
      return withAudit(ctx, async () => ({
        action: 'recipient.erase',
        target: app_id,
        company_id,
        before: { verifications: await store.docs('otps').count(recipientFilter(keyring, app_id, recipient)) },
        after: { recipient: recipientFingerprint(keyring, app_id, recipient) },
        perform: () => eraseRecipient(app_id, recipient),
      }))
    },
  }),
  operation({
    id: 'exportRecipient',
    request: 'POST /apps/{id}/export',
    role: 'owner',
    allowedWhenClosed: true,
    stepUp: true,
    summary: 'Export all that is kept about a recipient',
    description:
      'For a person who asks for their data: all that the app keeps about a recipient, in both modes, unmasked, as one JSON file. Codes and keys are not in it. The audit log records it. A company has one export under way at a time.',
    body: {
      schema: z
        .strictObject({ recipient: recipientText })
        .meta({ id: 'ExportRecipientRequest', description: 'The recipient to export.' }),
      example: { recipient: SAMPLE_NUMBER },
    },
    answers: [streamedAnswer(personExport, 'All that is kept.', examplePersonExport)],
    refusals: [conflict('Another export of the company is under way.')],
    keep: () => new Set<string>(),
    handle: async ({ ctx, app, body }, { store, keyring, clock, withAudit }, underWay) => {
      const { _id: app_id, company_id } = app
      const recipient = recipientToErase(body.recipient)
      if (underWay.has(company_id))
        throw httpException(409, 'Another export is under way. Try again when it has ended.')
      underWay.add(company_id)
      const end = () => void underWay.delete(company_id)
      // An answer that is not begun, because the client has left or the call is refused, closes too.
      ctx.res.once('close', end)
      await withAudit(ctx, () => ({
        action: 'recipient.export',
        target: app_id,
        company_id,
        before: null,
        after: { recipient: recipientFingerprint(keyring, app_id, recipient) },
        perform: async () => true,
      }))
      ctx.attachment(`person-${isoTime(clock.now()).slice(0, 10)}.json`)
      return streamOf(followedBy(personJson({ store, keyring, clock }, { app_id, recipient }), end))
    },
  }),
  operation({
    id: 'eraseRecipientInCompany',
    request: 'POST /companies/{id}/erase',
    role: 'developer',
    allowedWhenClosed: true,
    stepUp: true,
    summary: 'Erase a recipient from all apps',
    description:
      'All data of one recipient in every app of the company, in both modes. One that was interrupted is completed by repeating it.',
    body: eraseBody,
    answers: [erased],
    keep: createErasures,
    handle: async ({ ctx, company: { _id: company_id }, body }, { store, keyring, withAudit }, { eraseRecipient }) => {
      const recipient = recipientToErase(body.recipient)
      const appIds: string[] = []
      for await (const { _id } of scanAll(store.docs('apps'), { company_id })) appIds.push(_id)
      const count = (app_id: string) => store.docs('otps').count(recipientFilter(keyring, app_id, recipient))
      return withAudit(ctx, async () => {
        let verifications = 0
        for (const app_id of appIds) verifications += await count(app_id)
        return {
          action: 'recipient.erase',
          target: company_id,
          company_id,
          before: { apps: appIds.length, verifications },
          after: { recipient: recipientFingerprint(keyring, company_id, recipient) },
          perform: async () => {
            let counts = ZERO_COUNTS
            for (const app_id of appIds) counts = sumCounts(counts, await eraseRecipient(app_id, recipient))
            return counts
          },
        }
      })
    },
  }),
  operation({
    id: 'exportErasures',
    request: 'GET /erasures',
    role: 'operator',
    summary: 'Export the journal of erasures',
    description:
      'All erasures of recipients that were asked for, as NDJSON, by keyed index. Keep it beside your backups: after one is restored, replay it.',
    query: z.strictObject({ since: timeQuery('Only erasures that began at this time or later.') }),
    answers: [linesAnswer(journal, 'The journal, in the order of time.', EXAMPLE_JOURNAL)],
    handle: async ({ ctx, query: { since } }, { store, withAudit }) => {
      await withAudit(ctx, () => ({
        action: 'erasures.export',
        target: 'erasures',
        company_id: null,
        before: null,
        after: { since: isoTimeOrNull(since ?? null) },
        perform: async () => true,
      }))
      return streamOf(journalLines(store, since))
    },
  }),
  operation({
    id: 'replayErasures',
    request: 'POST /erasures/replay',
    role: 'operator',
    stepUp: true,
    summary: 'Erase again what a backup brought back',
    description:
      'Takes a journal of erasures, as NDJSON. What an app has under an index, and what was made before the time of the line, is erased again; what was made later stays. If a line is wrong, nothing is erased. Safe to repeat. A call ends after some 20 s: then `next_line` says where the next one begins.',
    body: { schema: journal, example: EXAMPLE_JOURNAL, mediaType: LINES_TYPE, maxBytes: MAX_REPLAY_BYTES },
    answers: [
      ok(replay, 'What was erased again.', { entries: 1, replayed: 1, next_line: null, erased: exampleErasure }),
    ],
    keep: createErasures,
    handle: async ({ ctx, body }, { store, clock, withAudit }, { eraseIndexed }) => {
      const lines = await parseLines(body, journalLine(clock.now()))
      return withAudit(ctx, () => ({
        action: 'erasures.replay',
        target: 'erasures',
        company_id: null,
        before: null,
        after: { entries: lines.length },
        perform: () => replayErasures({ store, clock, eraseIndexed }, lines),
        recordResult: result => result,
      }))
    },
  }),
  operation({
    id: 'getPrivacyState',
    request: 'GET /privacy',
    role: 'operator',
    summary: 'Look the data keys up',
    description: 'The ids of the data keys, and the progress of their rotation.',
    answers: [ok(privacy, 'The data keys.', { data_keys: ['k1'], rotation: null })],
    handle: async (_, { store, keyring }) => {
      const rotation = await getOne(store.docs('rotations'), ROTATION_ID)
      return { data_keys: [...keyring.keyIds], rotation: rotationView(keyring, rotation) }
    },
  }),
]

async function* followedBy(parts: AsyncIterable<string>, end: () => void): AsyncGenerator<string> {
  try {
    yield* parts
  } finally {
    end()
  }
}

/** A rotation to another key than the current one says nothing about the current one. */
function rotationView({ keyIds }: Pick<Keyring, 'keyIds'>, rotation: RotationDoc | undefined): RotationAnswer | null {
  if (!rotation || rotation.keys[0] !== keyIds[0]) return keyIds.length > 1 ? { state: 'waiting' } : null
  const { state, pass, looked, renewed, unsealable, renewed_in_all, started_at, pass_started_at, done_at } = rotation
  return {
    state,
    current: rotation.keys[0],
    pass,
    looked,
    renewed,
    unsealable,
    renewed_in_all,
    started_at: isoTime(started_at),
    pass_started_at: isoTime(pass_started_at),
    done_at: isoTimeOrNull(done_at),
  }
}

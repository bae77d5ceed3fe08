// Rotation of DATA_KEYS while the system runs: every text that an older key sealed or indexed is renewed with the current one, a small
// batch at a time. Writes are conditional on the revision, so no concurrent change is lost. The progress is in the store, so a process
// that takes over the lease continues there. Passes over all collections repeat until one finds nothing to renew: then the older keys can
// be removed.
//   reseal-batch.ts           renews one batch of a collection
//   resealed-fields.ts        says which fields of one document change
//   reindex-by-recipient.ts   renews the documents that are found by a verification's recipient or client address
//   reindex-metadata.ts       renews the documents by which a verification is found through its metadata
//   reindex-claims.ts         renews idempotency keys
//   reseal-refusals.ts        renews whom refusals are about
//   reseal-rules.ts           renews which recipients asked for no more messages
//   reseal-events.ts          renews what endpoints answered
//
// A pass reads in the order of `_id`. An index of documents to renew would cost every send, for a rotation that happens once a year.
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import { changeOne, getOne } from '../../infra/store/one-doc.ts'
import { MINUTE_MS } from '../../infra/time.ts'
import type { CountersignStore } from '../domain/collections.ts'
import {
  ROTATION_ID,
  type RotationDoc,
  SEALED_COLLECTIONS,
  type SealedCollection,
} from '../domain/privacy/documents.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { createResealBatch } from './reseal-batch.ts'
import { resealedOtpFields } from './resealed-fields.ts'
import { byOneProcess, MAX_BATCHES_PER_RUN, runBatches, SWEEP_BATCH, type Sweep } from './sweep.ts'

export interface RotationDeps {
  store: CountersignStore
  keyring: Keyring
  clock: Pick<Clock, 'now'>
  log: Logger
  metrics: Pick<Metrics, 'keyRotation'>
}

/** After the rotation the newest verifications are checked: a process that was not restarted still seals with an older key. */
const CHECK_NEWEST_EVERY_MS = MINUTE_MS
const NEWEST_CHECKED = 100
/** These are few, and may be changed long after they were made, so all of them are checked, some each time. */
const CHECKED_AS_A_WHOLE: readonly SealedCollection[] = ['providers', 'webhooks', 'apps', 'users']

export function createRotationSweeps({ store, keyring, clock, log, metrics }: RotationDeps): Record<string, Sweep> {
  const rotations = store.docs('rotations')
  const resealBatch = createResealBatch({ store, keyring, clock })
  let nextCheckAt = 0
  /** How many collections were checked, and until where the next one. */
  let [collectionsChecked, checkedUntil] = [0, '']

  const newRotation = (): RotationDoc => ({
    _id: ROTATION_ID,
    keys: [...keyring.keyIds],
    state: 'running',
    started_at: clock.now(),
    done_at: null,
    rev: 1,
    renewed_in_all: 0,
    ...newPass(1, clock.now()),
  })

  /** Null when there is nothing to rotate, or another sweeper has just changed the rotation. */
  async function load(): Promise<RotationDoc | null> {
    const found = await getOne(rotations, ROTATION_ID)
    if (!found) {
      if (keyring.keyIds.length < 2) return null
      const fresh = newRotation()
      if ((await rotations.insert([fresh]))[0] !== 'inserted') return null
      log.info({ key_ids: fresh.keys }, 'rotation.begun')
      return fresh
    }
    const sameKeys = found.keys[0] === keyring.keyIds[0] && keyring.keyIds.every(id => found.keys.includes(id))
    // A key that was removed and is back may open texts that could not be opened meanwhile, so it counts as an additional key.
    if (sameKeys) return found.keys.length === keyring.keyIds.length ? found : dropRemovedKeys(found)
    // A process with a single key that is not the current one was not restarted, and has nothing to renew with.
    if (keyring.keyIds.length < 2) return null
    const { _id, rev, ...fresh } = newRotation()
    log.info({ key_ids: fresh.keys }, 'rotation.begun')
    return save(found, fresh)
  }

  /** Texts that a removed key has sealed count as unsealable from now on. */
  function dropRemovedKeys(found: RotationDoc): Promise<RotationDoc | null> {
    const removed = found.keys.filter(id => !keyring.keyIds.includes(id))
    if (found.state === 'running') log.warn({ key_ids: removed }, 'rotation.key_removed_too_early')
    return save(found, { keys: [...keyring.keyIds] })
  }

  async function save(from: RotationDoc, set: Partial<RotationDoc>): Promise<RotationDoc | null> {
    return (await changeOne(rotations, { _id: ROTATION_ID, rev: from.rev, update: { $set: set } }))
      ? { ...from, ...set, rev: from.rev + 1 }
      : null
  }

  async function resealNextBatch(state: RotationDoc): Promise<RotationDoc | null> {
    const { looked, renewed, unsealable, last } = await resealBatch(state.collection, state.after, SWEEP_BATCH)
    const totals = {
      looked: state.looked + looked,
      renewed: state.renewed + renewed,
      unsealable: state.unsealable + unsealable,
      renewed_in_all: state.renewed_in_all + renewed,
    }
    if (last !== null) return save(state, { ...totals, after: last })
    const next = SEALED_COLLECTIONS[SEALED_COLLECTIONS.indexOf(state.collection) + 1]
    if (next !== undefined) return save(state, { ...totals, collection: next, after: '' })
    return endPass({ ...state, ...totals })
  }

  async function endPass(state: RotationDoc): Promise<RotationDoc | null> {
    const { pass, looked, renewed, unsealable, renewed_in_all } = state
    log.info({ pass_number: pass, looked, renewed, unsealable }, 'rotation.passed')
    if (renewed > 0) return save(state, { renewed_in_all, ...newPass(pass + 1, clock.now()) })
    if (unsealable > 0) log.warn({ unsealable }, 'rotation.left_unsealable')
    log.info({ renewed: renewed_in_all, unsealable }, 'rotation.done')
    return save(state, { looked, renewed, unsealable, renewed_in_all, state: 'done', done_at: clock.now() })
  }

  async function check(state: RotationDoc): Promise<void> {
    if (clock.now() < nextCheckAt || keyring.keyIds.length < 2) return
    nextCheckAt = clock.now() + CHECK_NEWEST_EVERY_MS
    const renewed = await renewSome()
    if (renewed === 0 && (await areNewestCurrent())) return
    log.warn({}, 'rotation.resumed')
    const renewed_in_all = state.renewed_in_all + renewed
    await save(state, { state: 'running', done_at: null, renewed_in_all, ...newPass(state.pass + 1, clock.now()) })
  }

  /** Looks through the next few of them, from the start again after the last. Answers how many an older key had sealed since. */
  async function renewSome(): Promise<number> {
    let sum = 0
    for (let batches = 0; batches < MAX_BATCHES_PER_RUN; batches += 1) {
      const collection = CHECKED_AS_A_WHOLE[collectionsChecked % CHECKED_AS_A_WHOLE.length] as SealedCollection
      const { renewed, last } = await resealBatch(collection, checkedUntil, SWEEP_BATCH)
      sum += renewed
      checkedUntil = last ?? ''
      if (last === null) collectionsChecked += 1
    }
    return sum
  }

  async function areNewestCurrent(): Promise<boolean> {
    const newest = { sort: { _id: -1 }, limit: NEWEST_CHECKED } as const
    const [verifications, messages] = await Promise.all([
      store.docs('otps').find({}, newest),
      store.docs('otps').find({ _id: { $lt: 'otp_' } }, newest),
    ])
    const isCurrent = (otp: OtpDoc): boolean => Object.keys(resealedOtpFields(keyring, otp).set).length === 0
    return [...verifications, ...messages].every(isCurrent)
  }

  function measure(state: RotationDoc): void {
    for (const what of ['looked', 'renewed', 'unsealable'] as const) metrics.keyRotation.set({ what }, state[what])
    metrics.keyRotation.set({ what: 'done' }, state.state === 'done' ? 1 : 0)
  }

  /** Renews one batch. Answers whether there is more to do at once. */
  async function rotate(): Promise<boolean> {
    const state = await load()
    if (!state) return false
    measure(state)
    if (state.state === 'done') {
      await check(state)
      return false
    }
    const after = await resealNextBatch(state)
    if (after) measure(after)
    return after?.state === 'running'
  }

  return {
    /** A million verifications take an hour or two. */
    rotation: byOneProcess(async () => {
      await runBatches(clock, rotate)
      return 0
    }),
  }
}

const newPass = (pass: number, now: number) => ({
  pass,
  pass_started_at: now,
  collection: SEALED_COLLECTIONS[0],
  after: '',
  looked: 0,
  renewed: 0,
  unsealable: 0,
})

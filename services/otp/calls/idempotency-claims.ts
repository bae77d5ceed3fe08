// Claims on idempotency keys, and on what messages say: one on recipient and code, for a minute or ten, lets a message
// that is asked for twice be sent once. A claim has the id of the verification that it leads to. It is bound once that
// verification exists, and removed when the send was refused. If the process that holds a claim dies, the next call
// takes the claim over: soon afterwards with the same verification id, so that one key never makes two verifications;
// long afterwards as if the key were new. A claim that no call comes for stays until its purge time.
//
// While data keys rotate, a key has an index under each of them, and processes differ in which data key is the current one, or have one
// of them only. A call claims every index that its edge knows, in an order that all edges share. So two calls meet at the first index that
// both know: one of them gets it, the other waits there or finds the verification. It holds nothing that the first one still needs.
import type { Clock } from '../../../infra/clock.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import { sleep } from '../../../infra/timeout.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { KeyedClaim, OtpAnswer } from '../../../machines/calls.ts'
import type { Mode } from '../../../machines/otp.ts'
import type { AppSettings } from '../../../machines/settings.ts'
import { retentionMs } from '../../domain/retention.ts'
import { CLAIM_HELD_MS, isAbandoned } from '../../domain/verifications/claim-holds.ts'
import type { ClaimDoc, ClaimedAnswer, OtpDoc } from '../../domain/verifications/documents.ts'

export type Claim =
  /** The caller may make the verification. */
  | HeldClaim
  /** The verification exists already. */
  | BoundClaim

export interface BoundClaim {
  kind: 'bound'
  otp: OtpDoc
  /** Absent where the answer was that to the send of the verification. */
  answer?: ClaimedAnswer | undefined
}

export interface HeldClaim {
  kind: 'held'
  otp_id: string
  /** When the key was first used, by this call or by one whose process died. */
  claimed_at: number
  /** One for each index of the key. */
  holds: readonly Hold[]
}

/** One index of a key, held by one call. */
interface Hold {
  id: string
  otp_id: string
  claimed_at: number
  /** From then on another call may take it over. */
  until: number
  /** When the key can be used again. */
  expires_at: number
}

/** One index that a call claims. */
interface Index {
  id: string
  lifeMs: number
  sealed_key?: string | undefined
  keys?: string[] | undefined
}

export interface Claims {
  /** `lifeMs`: of the idempotency key. */
  claim(claim: KeyedClaim, new_otp_id: string, lifeMs: number): Promise<Claim>
  /** Binds the key to a verification that exists, and to what the call answered. The claim does not outlive that verification. */
  bind(held: HeldClaim, otp: Pick<OtpDoc, '_id' | 'purge_at'>, answer: ClaimedAnswer): Promise<void>
  /** Frees the key after a refused send. */
  release(held: HeldClaim): Promise<void>
}

const POLL_MS = 25
/** One second. A holder that takes longer is dead or slow, and waiting calls use up the concurrency of others. */
const MAX_POLLS = 40

export interface ClaimDeps {
  claims: Docs<ClaimDoc>
  otps: Pick<Docs<OtpDoc>, 'get'>
  clock: Clock
}

export function createClaims({ claims, otps, clock }: ClaimDeps): Claims {
  const newClaimDoc = ({ id, lifeMs, sealed_key, keys }: Index, otp_id: string) => {
    const now = clock.now()
    const expires_at = now + lifeMs
    return {
      _id: id,
      otp_id,
      held_until: now + CLAIM_HELD_MS,
      claimed_at: now,
      ...(sealed_key !== undefined && { sealed_key }),
      ...(keys && { keys }),
      expires_at,
      purge_at: purgeAt(expires_at),
    }
  }

  /** Null when another call released or took over the index at the same time: the caller tries again. */
  async function takeOver(index: Index, new_otp_id: string): Promise<Hold | BoundClaim | 'busy' | 'other' | null> {
    const { id } = index
    const found = await getOne(claims, id)
    if (!found) return null
    const { otp_id, held_until, claimed_at, expires_at, answer } = found
    const now = clock.now()
    // The write is conditional on what was read, so of two calls that try at once only one takes the claim over.
    const unchanged = { _id: id, otp_id, held_until }
    if (now < expires_at) {
      if (areOtherKeys(found.keys, index.keys)) return 'other'
      const otp = await getOne(otps, otp_id)
      if (otp) return { kind: 'bound', otp, answer }
      // The same call held the claim and was delivered again because its process died, so there is no other holder to wait for.
      const isSameCall = otp_id === new_otp_id
      if (now < held_until && !isSameCall) return 'busy'
      // A primary of the store that was cut off may answer from before the verification was saved.
      const savedBefore = await getOne(otps, otp_id, { certain: true })
      if (savedBefore) return { kind: 'bound', otp: savedBefore, answer }
      if (!isAbandoned(found, now)) {
        const taken = { otp_id, held_until: now + CLAIM_HELD_MS }
        return (await claims.modify(unchanged, { $set: taken }))
          ? holdOf({ _id: id, claimed_at, expires_at, ...taken })
          : null
      }
    }
    const { _id, ...fresh } = newClaimDoc(index, new_otp_id)
    const taken = now < expires_at ? { ...fresh, claimed_at } : fresh
    const update = {
      $set: taken,
      $unset: { answer: true, ...(taken.keys === undefined && { keys: true as const }) },
    } as const
    return (await claims.modify(unchanged, update)) ? holdOf({ _id, ...taken }) : null
  }

  async function claimIndex(index: Index, new_otp_id: string): Promise<Hold | BoundClaim | 'other'> {
    for (let polls = 0; polls < MAX_POLLS; polls += 1) {
      const claim = newClaimDoc(index, new_otp_id)
      const [answer] = await claims.insert([claim])
      if (answer === 'inserted') return holdOf(claim)
      const existing = await takeOver(index, new_otp_id)
      if (existing !== null && existing !== 'busy') return existing
      if (existing === 'busy') await sleep(clock, POLL_MS)
    }
    throw new Unavailable('another call with this idempotency key, or with the same message, is still under way')
  }

  /** Makes an index that this call holds lead to another verification. */
  async function redirect(
    hold: Hold,
    otp_id: string,
    more: Partial<Pick<ClaimDoc, 'answer' | 'expires_at' | 'purge_at'>> = {},
  ): Promise<void> {
    const held = { _id: hold.id, otp_id: hold.otp_id, held_until: hold.until }
    if (!(await claims.modify(held, { $set: { otp_id, ...more } })))
      throw new Unavailable('another call with this idempotency key has taken it over')
    hold.otp_id = otp_id
  }

  /** The condition on `held_until` keeps an index that another call has taken over since. */
  const releaseAll = async (holds: readonly Hold[]): Promise<void> => {
    for (const { id, otp_id, until } of holds) await claims.remove({ _id: id, otp_id, held_until: until }, 1)
  }

  /** Claims the indexes in turn and adds to `holds` what it gets. */
  async function claimAll(indexes: readonly Index[], holds: Hold[], new_otp_id: string): Promise<Claim> {
    let otp_id = new_otp_id
    for (const index of indexes) {
      const claimed = await claimIndex(index, otp_id)
      if (claimed === 'other') continue
      if ('kind' in claimed) {
        await releaseAll(holds)
        return claimed
      }
      // An index that was taken over leads to the verification of a dead process, which may be saved after all.
      if (claimed.otp_id !== otp_id) for (const hold of holds) await redirect(hold, claimed.otp_id)
      otp_id = claimed.otp_id
      holds.push(claimed)
    }
    return { kind: 'held', otp_id, claimed_at: holds[0]?.claimed_at ?? 0, holds }
  }

  return {
    async claim(claim, new_otp_id, lifeMs) {
      const holds: Hold[] = []
      try {
        return await claimAll(indexesOf(claim, lifeMs), holds, new_otp_id)
      } catch (error) {
        await releaseAll(holds).catch(() => {})
        throw error
      }
    },
    async bind({ holds }, otp, answer) {
      for (const hold of holds) {
        const expires_at = Math.min(hold.expires_at, otp.purge_at.getTime())
        await redirect(hold, otp._id, { answer, expires_at, purge_at: purgeAt(expires_at) })
      }
    },
    release: ({ holds }) => releaseAll(holds),
  }
}

/** Those of the key first, in every call. */
const indexesOf = ({ ids, sealed_key, content }: KeyedClaim, lifeMs: number): Index[] => [
  ...ids.map(id => ({ id, lifeMs, sealed_key })),
  ...(content?.ids ?? []).map(id => ({ id, lifeMs: content?.life_ms ?? 0, keys: content?.keys })),
]

const areOtherKeys = (some: readonly string[] | undefined, others: readonly string[] | undefined): boolean =>
  some !== undefined && others !== undefined && !some.some(key => others.includes(key))

/** All indexes that a call claims. */
export const claimIds = ({ ids, content }: KeyedClaim): string[] => [...ids, ...(content?.ids ?? [])]

/** A claim leads to a verification, so it must not outlive it. */
export const claimLifeMs = ({ min_life_ms = 0 }: KeyedClaim, settings: AppSettings, mode: Mode): number =>
  Math.min(Math.max(settings.idempotency_ttl_seconds * 1000, min_life_ms), retentionMs(settings, mode))

/** What a call whose claim is bound answers. A call that is delivered twice made the verification itself, so its answer is not a replay. */
export const existingOtp = ({ otp, answer }: Omit<BoundClaim, 'kind'>, command_id: string): OtpAnswer => ({
  kind: 'verification',
  verification: { ...otp.first, ...answer },
  ...(otp.last_commands.some(({ id }) => id === command_id) ? {} : { replayed: true }),
})

const purgeAt = (expires_at: number): Date => new Date(expires_at + CLAIM_HELD_MS)

const holdOf = (claim: Pick<ClaimDoc, '_id' | 'otp_id' | 'held_until' | 'claimed_at' | 'expires_at'>): Hold => ({
  id: claim._id,
  otp_id: claim.otp_id,
  claimed_at: claim.claimed_at,
  until: claim.held_until,
  expires_at: claim.expires_at,
})

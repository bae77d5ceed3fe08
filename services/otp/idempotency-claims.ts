// Claims on idempotency keys. A claim has the id of the verification that it leads to. It is bound once that verification exists, and
// removed when the send was refused. If the process that holds a claim dies, the next call takes the claim over with the same
// verification id, so one key never makes two verifications.
import type { Clock } from '../../infra/clock.ts'
import { partitionOf } from '../../infra/partitions.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { ClaimDoc, OtpDoc } from '../domain/verifications/documents.ts'

export type Claim =
  /** The caller may make the verification. */
  | HeldClaim
  /** The verification exists already. */
  | { kind: 'bound'; otp: OtpDoc }

export interface HeldClaim {
  kind: 'held'
  otp_id: string
  /** From then on another call may take the claim over. */
  until: number
}

export interface Claims {
  claim(id: string, new_otp_id: string, lifeMs: number): Promise<Claim>
  /** Frees the key after a refused send. */
  release(id: string, held: HeldClaim): Promise<void>
}

/** Longer than the edge waits for any call, so that a claim is taken over only from a process that is dead. */
const CLAIM_HELD_MS = 30_000
const POLL_MS = 25
/** One second. A holder that takes longer is dead or slow, and waiting calls use up the concurrency of others. */
const MAX_POLLS = 40

export interface ClaimDeps {
  claims: Docs<ClaimDoc>
  otps: Pick<Docs<OtpDoc>, 'get'>
  clock: Clock
}

export function createClaims({ claims, otps, clock }: ClaimDeps): Claims {
  const newClaimDoc = (id: string, otp_id: string, lifeMs: number) => {
    const now = clock.now()
    const expires_at = now + lifeMs
    const partition = partitionOf(otp_id)
    return {
      _id: id,
      otp_id,
      partition,
      held_until: now + CLAIM_HELD_MS,
      expires_at,
      purge_at: new Date(expires_at + CLAIM_HELD_MS),
    }
  }

  /** Null when another call released or took over the claim at the same time: the caller tries again. */
  async function takeOver(id: string, new_otp_id: string, lifeMs: number): Promise<Claim | 'busy' | null> {
    const found = (await claims.get([id])).get(id)
    if (!found) return null
    const { otp_id, held_until, expires_at } = found
    const now = clock.now()
    // The write is conditional on what was read, so of two calls that try at once only one takes the claim over.
    const heldUntil = held_until === undefined ? { $exists: false } : held_until
    const unchanged = { _id: id, otp_id, held_until: heldUntil }
    if (now >= expires_at) {
      const { _id, ...taken } = newClaimDoc(id, new_otp_id, lifeMs)
      return (await claims.modify(unchanged, { $set: taken })) ? heldClaim(taken) : null
    }
    const otp = (await otps.get([otp_id])).get(otp_id)
    if (otp) return { kind: 'bound', otp }
    // The same call held the claim and was delivered again because its process died, so there is no other holder to wait for.
    const isSameCall = otp_id === new_otp_id
    if (held_until !== undefined && now < held_until && !isSameCall) return 'busy'
    const taken = { otp_id, held_until: now + CLAIM_HELD_MS }
    return (await claims.modify(unchanged, { $set: taken })) ? heldClaim(taken) : null
  }

  return {
    async claim(id, new_otp_id, lifeMs) {
      for (let polls = 0; polls < MAX_POLLS; polls += 1) {
        const claim = newClaimDoc(id, new_otp_id, lifeMs)
        const [answer] = await claims.insert([claim])
        if (answer === 'inserted') return heldClaim(claim)
        const existing = await takeOver(id, new_otp_id, lifeMs)
        if (existing !== null && existing !== 'busy') return existing
        if (existing === 'busy') await new Promise<void>(resolve => clock.after(POLL_MS, resolve))
      }
      throw new Unavailable('another call with this idempotency key is still under way')
    },
    // The condition on `held_until` keeps a claim that another call has taken over since.
    async release(id, { otp_id, until }) {
      await claims.remove({ _id: id, otp_id, held_until: until }, 1)
    },
  }
}

const heldClaim = ({ otp_id, held_until }: { otp_id: string; held_until: number }): HeldClaim => ({
  kind: 'held',
  otp_id,
  until: held_until,
})

// Idempotency keys. A claim holds the id of the verification it will lead to; it is bound once that verification exists, and is free
// again when the send was refused. Whoever holds a claim and dies is succeeded by the next caller, under the same id: so however
// many try, at most one verification comes of one key.
import type { Clock } from '../../infra/clock.ts'
import { partitionOf } from '../../infra/partitions.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { ClaimDoc, OtpDoc } from '../domain/verifications/documents.ts'

export type Claim =
  /** Go on and make this verification. */
  | HeldClaim
  /** It was made before: this is it. */
  | { kind: 'bound'; otp: OtpDoc }

export interface HeldClaim {
  kind: 'held'
  otp_id: string
  /** Past it another may go on in our stead. */
  until: number
}

export interface Claims {
  claim(id: string, new_otp_id: string, lifeMs: number): Promise<Claim>
  /** The send was refused: the key is free again. */
  release(id: string, held: HeldClaim): Promise<void>
}

/** Longer than any call is waited for, so that only the dead are succeeded. */
const CLAIM_HELD_MS = 30_000
const POLL_MS = 25
/** A second: whoever holds it that long is dead or in trouble, and those who wait take the place of others. */
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

  /** Null: it was let go in the meantime, or another took it over. Look again. */
  async function takeOver(id: string, new_otp_id: string, lifeMs: number): Promise<Claim | 'busy' | null> {
    const found = (await claims.get([id])).get(id)
    if (!found) return null
    const { otp_id, held_until, expires_at } = found
    const now = clock.now()
    // Whoever takes it over must have seen it last: of two who try, one finds it changed.
    const heldUntil = held_until === undefined ? { $exists: false } : held_until
    const unchanged = { _id: id, otp_id, held_until: heldUntil }
    if (now >= expires_at) {
      const { _id, ...taken } = newClaimDoc(id, new_otp_id, lifeMs)
      return (await claims.modify(unchanged, { $set: taken })) ? heldClaim(taken) : null
    }
    const otp = (await otps.get([otp_id])).get(otp_id)
    if (otp) return { kind: 'bound', otp }
    // This very call held it before, and is delivered again because that process died: it has nobody to wait for.
    const isOwn = otp_id === new_otp_id
    if (held_until !== undefined && now < held_until && !isOwn) return 'busy'
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
    // Not what another holds by now, who took us for dead.
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

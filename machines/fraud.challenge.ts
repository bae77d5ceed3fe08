// Whether a call by a publishable key should bring a solved challenge, and how hard that should be. In: what the fraud guard knows of the
// app's traffic, of the number or mailbox, and of the client address. Out: a need. Pure.

import { backOff, MAX_UNVERIFIED_MESSAGES, unverifiedMessages } from './fraud.number.ts'
import { countsUpToNow, type Tally, trafficNow, usualTraffic } from './fraud.tally.ts'
import { allowancesOf, type Evidence } from './fraud.ts'

export interface ChallengeEvidence {
  /** Messages by the app's devices, to numbers or to email addresses. */
  traffic: Tally
  /** How many messages the app's devices may send in a minute. */
  perMinute: number
  /** What is known of the number or mailbox. Null where the guard counts nothing. */
  recipient: Pick<Evidence, 'kind' | 'perMinute' | 'app' | 'country' | 'range' | 'history' | 'backsOff'> | null
  /** `suspect`: of a VPN, proxy, Tor exit or datacenter. Null when there is no usable address. */
  address: { suspect: boolean; network: Tally } | null
}

/** Whether a call looks risky enough to ask for a solved challenge, and how hard that challenge should be. */
export interface ChallengeNeed {
  asked: boolean
  /** 0 for the easiest challenge, 1 for the hardest. */
  pressure: number
}

/** Asked once so much of an allowance is used. */
const SUSPICIOUS_SHARE = 0.5
/** Asked once there is so many times the usual traffic. */
const BUSY_FACTOR = 3
/** Traffic alone may be a sale, so it makes a challenge half as hard as the hardest at most: at eight times the factor. */
const MAX_TRAFFIC_PRESSURE = 0.5
const TRAFFIC_DOUBLINGS = 3
/** Usual traffic in ten minutes is taken for a quarter of a minute's limit at least, so that a new or small app may be busy. */
const MIN_USUAL_MINUTES = 0.25
/** A suspect address is asked once its network has so many unverified sends in an hour, and asked for the hardest from four times that. */
const NETWORK_UNVERIFIED = 3
const NETWORK_HARDEST = 12
const SUSPECT_ADDRESS_PRESSURE = 0.25

export function challengeNeed(
  { traffic, perMinute, recipient, address }: ChallengeEvidence,
  now: number,
): ChallengeNeed {
  const used = Math.max(0, ...(recipient === null ? [] : usedShares(recipient, now)))
  const busy = trafficNow(traffic, now) / usualTrafficOf(traffic, perMinute, now)
  const network = address?.suspect ? unverifiedFrom(address.network, now) : 0
  const pressure = Math.max(
    clamp((used - SUSPICIOUS_SHARE) / (1 - SUSPICIOUS_SHARE)),
    busy <= BUSY_FACTOR ? 0 : MAX_TRAFFIC_PRESSURE * clamp(Math.log2(busy / BUSY_FACTOR) / TRAFFIC_DOUBLINGS),
    network < NETWORK_UNVERIFIED ? 0 : clamp(network / NETWORK_HARDEST),
  )
  return {
    asked: address === null || used > SUSPICIOUS_SHARE || busy > BUSY_FACTOR || network >= NETWORK_UNVERIFIED,
    pressure: address?.suspect ? pressure + SUSPECT_ADDRESS_PRESSURE * (1 - pressure) : pressure,
  }
}

/** The share of each allowance that is used. A number or mailbox that backs off has used all of its own. */
function usedShares(recipient: NonNullable<ChallengeEvidence['recipient']>, now: number): number[] {
  const { history, backsOff } = recipient
  const shares = allowancesOf(recipient, now).map(({ allowance }) => share(allowance.unverified, allowance.allowed))
  if (history === null) return shares
  const waits = backsOff && backOff(history, now) > 0
  return [...shares, waits ? 1 : unverifiedMessages(history, now) / MAX_UNVERIFIED_MESSAGES]
}

const share = (used: number, allowed: number): number => (used === 0 ? 0 : used / allowed)

const usualTrafficOf = (traffic: Tally, perMinute: number, now: number): number =>
  Math.max(1, usualTraffic(traffic, now) ?? 0, perMinute * MIN_USUAL_MINUTES)

function unverifiedFrom(network: Tally, now: number): number {
  const { sent, verified } = countsUpToNow(network, now)
  return sent - verified
}

const clamp = (value: number): number => Math.min(1, Math.max(0, value))

// Admission to the admin API. In: a call of a user, or of a caller who is not known yet. Out: the call has its turn, or
// is refused because the turn would come too late: at once, before Koa sees it and with its body unread, where that is
// clear from its cookie or address. The calls of a company take a small share of the event loop, half of it those that
// read and half those that change something, and the calls of all companies take a larger one, because the same process
// may serve sends. Callers who are not known share by address: those that sign in, and those whose session is looked up
// for the first time. Operators are not held back: they have other means to stop the process.
import type { IncomingMessage } from 'node:http'
import type { Context, Middleware } from 'koa'
import { createBoundedMap } from '../../infra/bounded-map.ts'
import type { CallerRequest, FindCaller } from '../../infra/http/caller-address.ts'
import type { RefuseEarly } from '../../infra/http/early-refusals.ts'
import { networkOf } from '../../infra/ip-address.ts'
import { createLoopShares, type LoopShares } from '../../infra/loop-shares.ts'
import { notExecuted } from '../domain/errors.ts'
import { ADMIN_PATH, type IdentifyPrincipal, NO_COMPANY, type Principal, principalOf } from './access.ts'

/** `ofOne`: of the reads or of the changes of a company. */
const SHARE = { ofOne: 0.05, ofAll: 0.2 }
/** `ofOne`: of the callers of one address who are not known. */
const SHARE_OF_STRANGERS = { ofOne: 0.05, ofAll: 0.1 }
const MAX_WAIT_MS = 5_000
const RETRY_AFTER = { 'Retry-After': '5' }
/** Of the reads or of the changes of a company, which may wait for a vendor. The bodies of calls that wait for their
 *  turn are not read yet. */
const MAX_IN_FLIGHT = 256
const MAX_REMEMBERED = 10_000
/** A caller with IPv6 can take any address of its /64. */
const NETWORK = { ipv4: 32, ipv6: 64 }

const READ_METHODS = new Set(['GET', 'HEAD'])

export interface AdmitDeps {
  findCaller: FindCaller
  sessionCookie: { tokenIn(request: Pick<CallerRequest, 'get'>): string | null }
  loopShares?: LoopShares | undefined
}

export interface Admit {
  /** Before Koa: decided without a look at the store. */
  refuseEarly: RefuseEarly
  /** A caller whose session was not seen lately is looked up in the share of its address. */
  identifyInTurn(identify: IdentifyPrincipal): IdentifyPrincipal
  /** Of a caller who is known. */
  user: Middleware
  /** Of an operation that asks for no session. */
  stranger: Middleware
}

export function createAdmit({ findCaller, sessionCookie, loopShares }: AdmitDeps): Admit {
  // Made once: the stack of an error costs as much as the rest of a refusal.
  const tooMany = notExecuted('Too many calls of this company or address wait.', {
    headers: RETRY_AFTER,
    isPaced: true,
  })
  const limits = { maxWaitMs: MAX_WAIT_MS, maxPieces: MAX_IN_FLIGHT, tooLate: () => tooMany }
  const users = loopShares ?? createLoopShares({ ...limits, share: SHARE })
  const strangers = loopShares ?? createLoopShares({ ...limits, share: SHARE_OF_STRANGERS })
  /** Who called with a session's token. It serves to refuse, never to let through. */
  const known = createBoundedMap<string>(MAX_REMEMBERED)

  const addressOf = (request: CallerRequest): string => {
    const { nearestKnown } = findCaller(request)
    return `address ${nearestKnown === null ? 'unknown' : networkOf(nearestKnown, NETWORK)}`
  }
  const inTurn = (ctx: Context, shares: LoopShares, owner: string, next: () => Promise<unknown>) =>
    shares.run(owner, async () => {
      if (!ctx.writable) throw notExecuted('The caller hung up.')
      return next()
    })

  return {
    refuseEarly(request) {
      const { method = '', url = '' } = request
      // An operator's token is compared without a look at the store, and guesses are few (operators.ts).
      if (!url.startsWith(`${ADMIN_PATH}/`) || request.headers.authorization !== undefined) return null
      const caller = callerRequestOf(request)
      const token = sessionCookie.tokenIn(caller)
      const owner = token === null ? undefined : known.get(token)
      const isFull = owner ? users.isFull(shareOf(owner, method)) : strangers.isFull(addressOf(caller))
      if (!isFull) return null
      const headers = { 'Cache-Control': 'no-store' }
      return { failure: tooMany, route: `${ADMIN_PATH}/*`, headers, fields: {}, record() {} }
    },

    identifyInTurn: identify => async ctx => {
      const token = sessionCookie.tokenIn(ctx)
      if (token === null) return identify(ctx)
      if (known.get(token) === undefined)
        return strangers.run(addressOf(ctx), async () => {
          const principal = await identify(ctx)
          const owner = ownerOf(principal)
          if (owner !== null) known.set(token, owner)
          return principal
        })
      try {
        return await identify(ctx)
      } catch (error) {
        known.delete(token)
        throw error
      }
    },

    async user(ctx, next) {
      const owner = ownerOf(principalOf(ctx))
      return owner === null ? next() : inTurn(ctx, users, shareOf(owner, ctx.method), next)
    },

    stranger: (ctx, next) => inTurn(ctx, strangers, addressOf(ctx), next),
  }
}

/** Null for an operator. People without a company do not share with each other. */
const ownerOf = ({ company_id, user_id }: Principal): string | null =>
  company_id === NO_COMPANY ? user_id : company_id

const shareOf = (owner: string, method: string): string => `${owner} ${READ_METHODS.has(method) ? 'reads' : 'changes'}`

const callerRequestOf = (request: IncomingMessage): CallerRequest => ({
  get: header => String(request.headers[header.toLowerCase()] ?? ''),
  req: request,
})

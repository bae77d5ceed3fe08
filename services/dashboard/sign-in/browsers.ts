// What is remembered of browsers. In: the token of a browser's cookie, and a user. Out: the verification whose code is
// good in this browser; and whether the user has signed in there before. Ids are hashes of the token and the user's id:
// they tell nothing without the cookie.
import { createHash } from 'node:crypto'
import type { Clock } from '../../../infra/clock.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import { DAY_MS, HOUR_MS } from '../../../infra/time.ts'
import type { SignInFlowDoc, UserStore } from '../../domain/users/documents.ts'
import type { Grants } from '../../domain/users/grants.ts'

/** Longer than a code is good, however often it is sent again. */
export const SIGN_IN_FLOW_MS = HOUR_MS
export const KNOWN_BROWSER_MS = 180 * DAY_MS

/** The sign-in of one user in one browser. */
export interface SignInFlow {
  find(): Promise<Flow | null>
  save(flow: Flow): Promise<void>
  end(): Promise<void>
}

export type Flow = Pick<SignInFlowDoc, 'otp_id' | 'mode'>

export interface Browsers {
  /** `token`: of the flow cookie. */
  flow(token: string, userId: string): SignInFlow
  /** `token`: of the device cookie. The id under which the browser is known; null if the user has not signed in there before. */
  known(token: string, userId: string): Promise<string | null>
  remember(token: string, userId: string): Promise<void>
}

export interface BrowserDeps {
  store: UserStore
  grants: Grants
  clock: Pick<Clock, 'now'>
}

export function createBrowsers({ store, grants, clock }: BrowserDeps): Browsers {
  const [flows, knownBrowsers] = [store.docs('sign_in_flows'), store.docs('known_browsers')]
  return {
    flow(token, userId) {
      const _id = idOf(token, userId)
      return {
        async find() {
          const stored = await getOne(flows, _id)
          const isGood = stored && stored.expires_at > clock.now() && grants.isGenuine('sign_in_flows', stored)
          return isGood ? stored : null
        },
        async save({ otp_id, mode }) {
          const expires_at = clock.now() + SIGN_IN_FLOW_MS
          const flow = { _id, otp_id, mode, expires_at, purge_at: new Date(expires_at) }
          const { _id: id, ...$set } = grants.stamp('sign_in_flows', flow)
          await flows.modify({ _id: id }, { $set }, { upsert: true })
        },
        end: async () => void (await flows.remove({ _id }, 1)),
      }
    },

    async known(token, userId) {
      const _id = idOf(token, userId)
      const stored = await getOne(knownBrowsers, _id)
      return stored && stored.expires_at > clock.now() ? _id : null
    },

    async remember(token, userId) {
      const expires_at = clock.now() + KNOWN_BROWSER_MS
      const $set = { expires_at, purge_at: new Date(expires_at) }
      await knownBrowsers.modify({ _id: idOf(token, userId) }, { $set }, { upsert: true })
    },
  }
}

const idOf = (token: string, userId: string): string => createHash('sha256').update(`${token}:${userId}`).digest('hex')

// What the log lines of a request say of it. In: what a router has learned of the caller and the subject. Out: fields.
import type { Context } from 'koa'
import { isGivenId, isId } from '../ids.ts'

export interface RequestFields {
  app_id?: string
  key_id?: string
  otp_id?: string
  /** The type of a refusal whose answer does not say it. */
  refused?: string
  reason?: string
}

/** Adds what is known now to the log lines of this request. */
export function describeRequest(ctx: Context, fields: RequestFields): void {
  ctx.state.described = { ...ctx.state.described, ...fields }
}

/** The request's id, the ids in its path, and what a router has added. */
export const requestFields = (ctx: Context): object => ({
  request_id: ctx.state.requestId,
  ...idsIn(ctx.params),
  ...ctx.state.described,
})

/** Anyone can write anything into a path, so only what has the form of an id is logged. The first three may come from a bootstrap file. */
const FIELDS: readonly [string, (value: string) => boolean][] = [
  ['company_id', value => isGivenId('cmp', value)],
  ['app_id', value => isGivenId('app', value)],
  ['key_id', value => isGivenId('key', value)],
  ['otp_id', value => isId('otp', value) || isId('msg', value)],
  ['event_id', value => isId('evt', value)],
]

function idsIn(params: Record<string, unknown> = {}): Record<string, string> {
  const ids: Record<string, string> = {}
  for (const value of Object.values(params)) {
    const [field] = FIELDS.find(([, fits]) => typeof value === 'string' && fits(value)) ?? []
    if (field) ids[field] = value as string
  }
  return ids
}

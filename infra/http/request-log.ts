// What the log lines of a request say of it. In: what a router has learned of the caller and the subject. Out: fields.
import type { Context } from 'koa'

export interface RequestFields {
  app_id?: string
  key_id?: string
  otp_id?: string
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

const FIELD_BY_PREFIX: Readonly<Record<string, string>> = {
  cmp: 'company_id',
  app: 'app_id',
  key: 'key_id',
  otp: 'otp_id',
  evt: 'event_id',
}

/** Anyone can write anything into a path, so only what has the form of an id is logged. */
const ID = /^([a-z]{3})_[0-9A-Za-z]{1,64}$/

function idsIn(params: Record<string, unknown> = {}): Record<string, string> {
  const ids: Record<string, string> = {}
  for (const value of Object.values(params)) {
    const prefix = typeof value === 'string' ? ID.exec(value)?.[1] : undefined
    const field = prefix && FIELD_BY_PREFIX[prefix]
    if (field) ids[field] = value as string
  }
  return ids
}

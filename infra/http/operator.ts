// In: an Authorization header. Out: the operator it belongs to, or a 401. Operators hold ADMIN_TOKEN and may see every company.
import type { AdminToken } from '../config/secrets.ts'
import { equal } from '../crypto/compare.ts'
import { httpException } from './problem.ts'

export type Operators = (authorization: string | undefined) => string

export const operators =
  (tokens: readonly AdminToken[]): Operators =>
  authorization => {
    const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? ''
    // Every token is compared, so that the time taken tells nothing of which came close.
    const holders = tokens.filter(({ token }) => equal(token, given))
    const name = holders[0]?.name
    if (name === undefined) throw httpException(401, "An operator's token is needed.", { 'WWW-Authenticate': 'Bearer' })
    return name
  }

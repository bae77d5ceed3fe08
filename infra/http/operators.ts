// In: an Authorization header. Out: the operator's name, or a 401. An operator has a token of ADMIN_TOKEN and may see every company.
import type { AdminToken } from '../config/secrets.ts'
import { isSameSecret } from '../crypto/compare-secrets.ts'
import { httpException } from './problem.ts'

export type IdentifyOperator = (authorization: string | undefined) => string

export const createIdentifyOperator =
  (tokens: readonly AdminToken[]): IdentifyOperator =>
  authorization => {
    const bearer = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? ''
    // Every token is compared, so that the time does not depend on which one matches.
    const matching = tokens.filter(({ token }) => isSameSecret(token, bearer))
    const name = matching[0]?.name
    if (name === undefined) throw httpException(401, "An operator's token is needed.", { 'WWW-Authenticate': 'Bearer' })
    return name
  }

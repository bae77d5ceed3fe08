// Ties stored documents to an operator's token. In: a token of ADMIN_TOKEN. Out: a mark that is stored instead of the token, and later the
// operator again, as long as the token is configured unchanged.
import type { AdminToken } from '../../../infra/config/secrets.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'

export interface OperatorMark {
  name: string
  /** The keyed index of the token. */
  token_index: string
}

const OPERATOR_TOKEN_SCOPE = 'operator token'

export const markOf = (keyring: Pick<Keyring, 'index'>, { name, token }: AdminToken): OperatorMark => ({
  name,
  token_index: keyring.index(OPERATOR_TOKEN_SCOPE, token),
})

/** Undefined when the token has been changed or is no longer configured. */
export const operatorWith = (
  keyring: Pick<Keyring, 'indexes'>,
  operators: readonly AdminToken[],
  { name, token_index }: OperatorMark,
): AdminToken | undefined =>
  operators.find(one => one.name === name && keyring.indexes(OPERATOR_TOKEN_SCOPE, one.token).includes(token_index))

// The code of a verification or a message, in the clear. It must never be stored or logged.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Otp } from '../../../machines/otp.ts'
import { atRest } from './encryption-context.ts'

/** Throws `Unsealable` or `UnknownSecret` when a data key or code secret is no longer configured. */
export function codeOf(keyring: Pick<Keyring, 'code' | 'unseal'>, otp: Otp, generation = otp.generation): string {
  const { otp_id, code } = otp
  if ('given' in code) {
    if (code.given === null) throw new Error('the code of a message that has ended is erased')
    return keyring.unseal(code.given, atRest.givenCode(otp_id))
  }
  const { secret, salt, length } = code
  return keyring.code(secret, { otpId: otp_id, generation, salt: keyring.unseal(salt, atRest.salt(otp)), length })
}

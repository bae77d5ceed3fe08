// A real RSA key for configs that are checked. In: nothing. Out: the same key at every call, in PEM, because making one takes a while.
import { generateKeyPairSync } from 'node:crypto'

let pem: string | undefined

export function rsaPrivateKey(): string {
  pem ??= generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
  return pem
}

// The codes of verifications, derived as the OTP actor derives them, from the deployment's secrets and the stored documents.
import { readConfig } from '../../infra/config/config.ts'
import { createKeyring } from '../../infra/crypto/keyring.ts'
import { createMongoStore } from '../../infra/store/mongo.ts'
import { COLLECTIONS } from '../../services/domain/collections.ts'
import { codeOf } from '../../services/domain/verifications/message-content.ts'

const BATCH_SIZE = 1_000

interface Code {
  otp_id: string
  code: string
}

/** `env` holds the settings of the processes, with their secrets. */
export async function codesOf(env: Record<string, string>, otp_ids: readonly string[]): Promise<Code[]> {
  const { secrets } = readConfig(env, [])
  const keyring = createKeyring({ dataKeys: secrets.data ?? [], codeSecrets: secrets.code ?? [] })
  const store = createMongoStore({ url: env.MONGODB_URL ?? '', collections: COLLECTIONS })
  const codes: Code[] = []
  for (let first = 0; first < otp_ids.length; first += BATCH_SIZE) {
    const docs = await store.docs('otps').get(otp_ids.slice(first, first + BATCH_SIZE))
    for (const doc of docs.values()) codes.push({ otp_id: doc._id, code: codeOf(keyring, doc.context) })
  }
  await store.close()
  return codes
}

// The secret of an app's widget of challenges. In: settings as they are written, with the secret in the clear. Out:
// settings that hold its fingerprint in its place, and the sealed secret, which is stored beside them: so settings can
// be shown, compared, audited and tried without it.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { isJsonObject } from '../../../infra/json-object.ts'
import { widgetSecret } from '../../../machines/settings.values.ts'
import { type App, challengeSecretContext } from './documents.ts'
import { FINGERPRINT_PATTERN, fingerprint } from './fingerprint.ts'
import type { InputProblem } from './problems.ts'
import type { SettingsInput } from './settings.ts'

type Settings = Pick<SettingsInput, 'challenge'>

export interface WithoutSecret<Written> {
  settings: Written
  /** In the clear; null where none was given, or the fingerprint of one. */
  secret: string | null
}

/** A text that cannot be a secret stays, so that the check of the settings refuses it. */
export function withoutChallengeSecret<Written extends object>(
  keyring: Pick<Keyring, 'index'>,
  settings: Written,
): WithoutSecret<Written> {
  const challenge = 'challenge' in settings ? settings.challenge : undefined
  const secret = isJsonObject(challenge) ? widgetSecret.safeParse(challenge.secret).data : undefined
  if (secret === undefined || FINGERPRINT_PATTERN.test(secret)) return { settings, secret: null }
  const shown = { ...(challenge as object), secret: fingerprint(keyring, secret) }
  return { settings: { ...settings, challenge: shown }, secret }
}

/** A fingerprint stands for the stored secret alone. That is not sent to another address than before: who may change
 *  settings would get it. */
export function challengeSecretProblems(before: Settings, after: Settings, secret: string | null): InputProblem[] {
  const problem = (message: string): InputProblem[] => [{ path: 'challenge.secret', message }]
  if (secret !== null || secretIn(after) === null) return []
  if (secretIn(after) !== secretIn(before))
    return problem('is the fingerprint of another secret: give the secret itself')
  return isSameVendor(before, after) ? [] : problem('must be given again, because it would be sent to another address')
}

const isSameVendor = ({ challenge: one }: Settings, { challenge: other }: Settings): boolean =>
  vendorOf(one) === vendorOf(other) || vendorOf(other) === undefined

/** Undefined where none is asked. */
const vendorOf = (challenge: Settings['challenge']): string | undefined =>
  (challenge?.by ?? 'pow') === 'pow' ? undefined : (challenge?.verify_url ?? challenge?.by)

/** What is stored beside changed settings; nothing where the secret stays. */
export function challengeSecretChange(
  keyring: Pick<Keyring, 'seal'>,
  app_id: string,
  { before, after, secret }: { before: Settings; after: Settings; secret: string | null },
): Pick<App, 'challenge_secret'> {
  if (secretIn(after) === secretIn(before)) return {}
  return { challenge_secret: secret === null ? null : keyring.seal(secret, challengeSecretContext(app_id)) }
}

const secretIn = ({ challenge }: Settings): string | null => challenge?.secret ?? null

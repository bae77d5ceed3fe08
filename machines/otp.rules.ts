// The rules of a verification, from the settings that its app has when it starts.
import type { Rules } from './otp.ts'
import type { AppSettings } from './settings.ts'

export const rulesFrom = (settings: AppSettings): Rules => ({
  ttl_ms: settings.code.ttl_seconds * 1000,
  verify_attempts: settings.verify_attempts,
  send_attempts: settings.send_attempts,
  cooldowns_ms: settings.resend_cooldown_seconds.map(seconds => seconds * 1000),
  token_ttl_ms: settings.token_ttl_seconds * 1000,
  auto_fallback: settings.auto_fallback,
})

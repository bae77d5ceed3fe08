// The console: the codes with which users sign in to the dashboard are verifications of its app. bootstrap/console.ts creates it.
import type { AppSettings } from '../../../machines/settings.ts'

export const CONSOLE_COMPANY_ID = 'cmp_console'
export const CONSOLE_APP_ID = 'app_console'
/** It is not stored: no caller of the API has it. */
export const CONSOLE_KEY_ID = 'key_console'

/** A sign-in code has no lock by recipient against guessing, so it is longer than the codes of most apps. */
export const SIGN_IN_CODE_LENGTH = 8

/** What holds for the console beside its settings, and before them. Anyone who knows an address can ask for a code to it and guess at that
 *  code, so a limit by recipient would lock its owner out. The dashboard counts by browser and by user instead. */
export const withConsoleRules = (settings: AppSettings): AppSettings => ({
  ...settings,
  code: { ...settings.code, length: SIGN_IN_CODE_LENGTH },
  limits: { ...settings.limits, recipient: [], recipient_messages: [], recipient_verify: [] },
})

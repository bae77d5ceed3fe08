// The ids of the console: the codes with which users sign in to the dashboard are verifications of its app. bootstrap/console.ts creates it.
export const CONSOLE_COMPANY_ID = 'cmp_console'
export const CONSOLE_APP_ID = 'app_console'
/** It is not stored: no caller of the API has it. */
export const CONSOLE_KEY_ID = 'key_console'

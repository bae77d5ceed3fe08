// The company and the app of the console: the codes with which users sign in to the dashboard are verifications of this app. In: a store.
// Out: both are in it. Operators give the app an email provider as they would any other app. It has no users: an owner of it could read
// the codes of all others.
import type { Clock } from '../../../infra/clock.ts'
import { ensure } from '../../../infra/store/ensure.ts'
import type { CountersignStore } from '../collections.ts'
import { openAccount } from '../money/batches.ts'
import { CONSOLE_APP_ID, CONSOLE_COMPANY_ID, SIGN_IN_CODE_LENGTH } from '../tenancy/console.ts'
import type { SettingsInput } from '../tenancy/settings.ts'

/** Messages name it: "123456 is your Countersign console verification code." */
const NAME = 'Countersign console'

/** Codes are only of interest until they are used; a week is enough to find out why one did not arrive. */
const SETTINGS: SettingsInput = {
  code: { length: SIGN_IN_CODE_LENGTH },
  routing: { default: ['email'] },
  retention_days: 7,
}

/** What is there stays as it is: an operator may have changed it. */
export async function ensureConsole({
  store,
  clock,
}: {
  store: CountersignStore
  clock: Pick<Clock, 'now'>
}): Promise<void> {
  const now = clock.now()
  await ensure(store.docs('companies'), CONSOLE_COMPANY_ID, {
    create: () => ({
      _id: CONSOLE_COMPANY_ID,
      name: NAME,
      ...openAccount(CONSOLE_COMPANY_ID, 0, now),
      created_at: now,
      rev: 0,
    }),
    update: () => null,
  })
  await ensure(store.docs('apps'), CONSOLE_APP_ID, {
    create: () => ({
      _id: CONSOLE_APP_ID,
      company_id: CONSOLE_COMPANY_ID,
      name: NAME,
      settings: SETTINGS,
      created_at: now,
      rev: 0,
    }),
    update: () => null,
  })
}

// The example for Next.js as a user has it: copied beside the packages that it needs.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { installTypescriptClient } from './typescript-package.ts'

export const SIGN_UP_PATHS = { send: '/api/verify/start', check: '/api/verify/check' }
export const WEBHOOK_PATH = '/api/webhooks'
/** The file that answers there. */
export const WEBHOOK_ROUTE = `app${WEBHOOK_PATH}/route.ts`

/** Returns the folder of the app. */
export async function installNextjsExample(packages: readonly string[] = []): Promise<string> {
  const folder = await installTypescriptClient(packages)
  cpSync(join(PROJECT_ROOT, 'docs/examples/nextjs'), folder, { recursive: true })
  return folder
}

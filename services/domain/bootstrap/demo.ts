// The first start of an empty development system without a configuration: a demo company with one app, and the commands to try it.

import { CONSOLE_COMPANY_ID } from '../tenancy/console.ts'
import { readBootstrap } from './bootstrap.ts'
import { type BootstrapDeps, writeBootstrap } from './write-to-store.ts'

const DEMO_COMPANY_ID = 'cmp_demo'
/** The companies that a store has before an operator makes one. */
const OWN_COMPANY_IDS = [DEMO_COMPANY_ID, CONSOLE_COMPANY_ID]
const [SERVER_KEY_ID, PUBLISHABLE_KEY_ID] = ['key_demoserver', 'key_demodevice']

const DEMO_BOOTSTRAP = JSON.stringify({
  companies: [
    {
      id: DEMO_COMPANY_ID,
      name: 'Demo',
      apps: [
        {
          id: 'app_demo',
          name: 'Demo',
          keys: [
            { id: SERVER_KEY_ID, kind: 'server', mode: 'test' },
            { id: PUBLISHABLE_KEY_ID, kind: 'publishable', mode: 'test' },
          ],
        },
      ],
    },
  ],
})

export interface DemoKeys {
  server: string
  publishable: string
}

/** The keys of the demo app; null when an earlier start made them, or when the store has other companies. Completes a demo that an
 *  interrupted start left without keys. */
export async function createDemo(deps: BootstrapDeps): Promise<DemoKeys | null> {
  const { store, minted } = deps
  const companies = await store.docs('companies').find({}, { sort: { _id: 1 }, limit: OWN_COMPANY_IDS.length + 1 })
  if (companies.some(({ _id }) => !OWN_COMPANY_IDS.includes(_id))) return null
  if ((await store.docs('keys').get([SERVER_KEY_ID])).has(SERVER_KEY_ID) && !minted?.has(SERVER_KEY_ID)) return null
  const { mintedKeys } = await writeBootstrap(readBootstrap(DEMO_BOOTSTRAP), deps)
  const keyOf = (id: string): string | undefined => mintedKeys.find(key => key.id === id)?.key
  const [server, publishable] = [keyOf(SERVER_KEY_ID), keyOf(PUBLISHABLE_KEY_ID)]
  // When several processes start together, only the one that inserted the keys knows and shows them.
  return server && publishable ? { server, publishable } : null
}

export interface DemoAccess {
  url: string
  /** Null when another process serves the admin API: its address is not known here. */
  adminUrl: string | null
  /** Null where the operator supplied it. */
  adminToken: string | null
  /** Signs the operator in to the dashboard; null when another process serves it. */
  signInLink: string | null
}

/** For every start of a development system. */
export const signInGuide = (link: string): string => `
  Open this link to sign in to the dashboard (good once, for an hour):

    ${link}

`

/** The text of the first start: the link to the dashboard, and commands for a second terminal. */
export const demoGuide = (keys: DemoKeys, { url, adminUrl, adminToken, signInLink }: DemoAccess): string => `${
  signInLink === null ? '\n' : signInGuide(signInLink)
}  A demo app is ready. Its test keys are shown this once:

    server key       ${keys.server}
    publishable key  ${keys.publishable}

  Send a code (test keys deliver into a sandbox, never to a phone):

    curl -s ${url}/api/v1/otp/send -H 'authorization: Bearer ${keys.server}' \\
      -H 'content-type: application/json' -d '{"recipient": "+15005550010"}'

  Read it in the sandbox${adminUrl === null ? ', at the process that plays the dashboard' : ''}${adminToken === null ? ', with a token of ADMIN_TOKEN' : ''}:

    curl -s '${adminUrl ?? 'http://…'}/admin/v1/sandbox/messages?recipient=%2B15005550010' -H 'authorization: Bearer ${adminToken ?? '…'}'

  Check it, with the otp_id and the code you got:

    curl -s ${url}/api/v1/otp/verify -H 'authorization: Bearer ${keys.server}' \\
      -H 'content-type: application/json' -d '{"otp_id": "…", "code": "…"}'

`

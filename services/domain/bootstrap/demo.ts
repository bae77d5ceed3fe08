// The first start of an empty, unconfigured development system: a company and an app to try things with, and what to paste.
import { type ApplyTo, write } from './apply.ts'
import { readBootstrap } from './bootstrap.ts'

const COMPANY = 'cmp_demo'
const [SERVER, DEVICE] = ['key_demoserver', 'key_demodevice']

const DEMO = JSON.stringify({
  companies: [
    {
      id: COMPANY,
      name: 'Demo',
      apps: [
        {
          id: 'app_demo',
          name: 'Demo',
          keys: [
            { id: SERVER, kind: 'server', mode: 'test' },
            { id: DEVICE, kind: 'publishable', mode: 'test' },
          ],
        },
      ],
    },
  ],
})

export interface Demo {
  server: string
  publishable: string
}

/** The keys of the demo app; null when they were made before, or somebody has companies of their own. What a start that was cut
 *  short has left without keys is finished. */
export async function createDemo(to: ApplyTo): Promise<Demo | null> {
  const { store, made } = to
  const companies = await store.docs('companies').find({}, { sort: { _id: 1 }, limit: 2 })
  if (companies.some(({ _id }) => _id !== COMPANY)) return null
  if ((await store.docs('keys').get([SERVER])).has(SERVER) && !made?.has(SERVER)) return null
  const { minted } = await write(readBootstrap(DEMO), to)
  const keyOf = (id: string): string | undefined => minted.find(key => key.id === id)?.key
  const [server, publishable] = [keyOf(SERVER), keyOf(DEVICE)]
  // Of several processes that start together, the one that made the keys shows them.
  return server && publishable ? { server, publishable } : null
}

export interface DemoPlace {
  url: string
  /** Null when another process serves the admin API, who knows where. */
  adminUrl: string | null
  adminToken: string
}

/** What a developer pastes into a second terminal. */
export const demoGuide = (keys: Demo, { url, adminUrl, adminToken }: DemoPlace): string => `
  A demo app is ready. Its test keys are shown this once:

    server key       ${keys.server}
    publishable key  ${keys.publishable}

  Send a code (test keys deliver into a sandbox, never to a phone):

    curl -s ${url}/api/v1/otp/send -H 'authorization: Bearer ${keys.server}' \\
      -H 'content-type: application/json' -d '{"recipient": "+15005550010"}'

  Read it in the sandbox${adminUrl === null ? ', at the process that plays the dashboard' : ''}:

    curl -s '${adminUrl ?? 'http://…'}/admin/v1/sandbox/messages?recipient=%2B15005550010' -H 'authorization: Bearer ${adminToken}'

  Check it, with the otp_id and the code you got:

    curl -s ${url}/api/v1/otp/verify -H 'authorization: Bearer ${keys.server}' \\
      -H 'content-type: application/json' -d '{"otp_id": "…", "code": "…"}'

`

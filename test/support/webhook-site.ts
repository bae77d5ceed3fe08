// A Countersign that is killed and started again on the same site, and a backend that receives its events all the time. Its clock runs
// five times as fast, so that tests wait less for the repair after a crash.
import { type Answer, ask, createCaller } from './api-caller.ts'
import type { CrashPoint } from './crash.ts'
import type { KillableProcess, Processes } from './processes.ts'
import { type AnswerRequest, type Receiver, startReceiver } from './receiver.ts'
import type { EngineSet } from './site.ts'

const APP = 'app_hooks'
const KEY = 'sk_test_hooks0123456789'
const TOKEN = 'a-token-of-the-operator'

export interface WebhookSite {
  backend: Receiver
  /** Sets how the backend answers from now on. */
  respondWith(answer: AnswerRequest): void
  start(point?: CrashPoint): Promise<KillableProcess>
  /** Starts a verification, whose delivered message is an event. Answers its id; null when the request got no answer. */
  startVerification(url: string): Promise<string | null>
  admin(url: string, path: string): Promise<Answer>
  /** The bodies that the backend received, by event id. */
  bodiesByEvent(): Map<string, string[]>
  /** The verifications that the backend received an event of. */
  notifiedOtpIds(): string[]
  close(): Promise<void>
}

export async function createWebhookSite(
  { site, crashing }: Pick<Processes, 'site' | 'crashing'>,
  engines: EngineSet,
  env: Record<string, string> = {},
): Promise<WebhookSite> {
  let answer: AnswerRequest = (_, response) => void response.end()
  const backend = await startReceiver((request, response) => answer(request, response))
  const fresh = await site(engines, {
    ADMIN_TOKEN: TOKEN,
    LOG_LEVEL: 'info',
    CHANNEL_BACKOFF: '200',
    WEBHOOK_BACKOFF: '400,800,1600,3200',
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
    ...env,
  })
  const webhook = { url: `http://127.0.0.1:${backend.port}/hooks`, secret: 'whsec_c2VjcmV0IG9mIHRoZSBob29rcw==' }
  const app = { id: APP, name: 'Hooks', keys: [{ id: 'key_hooks', key: KEY }], webhook }
  const companies = [{ id: 'cmp_hooks', name: 'Hooks', apps: [app] }]
  const BOOTSTRAP_FILE = await fresh.write('bootstrap.json', { companies })
  const here = { ...fresh, env: { ...fresh.env, BOOTSTRAP_FILE, SINCE: String(Date.now()) } }
  let recipients = 0

  const bodies = () => backend.received.map(({ body }) => body.toString())
  return {
    backend,
    respondWith: next => {
      answer = next
    },
    async start(point) {
      const { ready, kill, exited } = crashing(here, { point })
      return { url: await ready(), kill, exited }
    },
    async startVerification(url) {
      recipients += 1
      const sent = createCaller(url, KEY).send(`+1415558${String(recipients).padStart(4, '0')}`)
      return sent.then(
        ({ body }) => body.otp_id,
        () => null,
      )
    },
    admin: (url, path) => ask(`${url}/admin/v1/apps/${APP}${path}`, { token: TOKEN }),
    bodiesByEvent() {
      const byId = new Map<string, string[]>()
      for (const body of bodies()) {
        const { id } = JSON.parse(body)
        byId.set(id, [...(byId.get(id) ?? []), body])
      }
      return byId
    },
    notifiedOtpIds: () => [...new Set(bodies().map(body => JSON.parse(body).payload.otp_id as string))],
    close: backend.close,
  }
}

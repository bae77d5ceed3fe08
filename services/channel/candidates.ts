// Which providers may carry a delivery, in the order to try them. A test key's messages go to the sandbox and nowhere else. A provider
// is made once and kept while its setup stays as it is: it may hold connections.
import { cached } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Tenancy } from '../../infra/tenancy/tenancy.ts'
import type { Channel } from '../../machines/channels.ts'
import { type Candidate, isAnswer } from './attempt.ts'
import type { Build } from './build.ts'
import type { Errand, Provider } from './provider.ts'

export interface CandidateParts {
  channel: Channel
  tenancy: Pick<Tenancy, 'providers'>
  sandbox: Provider
  build: Build
  clock: Clock
}

export interface Candidates {
  of(errand: Errand): Promise<readonly Candidate[]>
  /** All of an app's on this channel. */
  ofApp(app_id: string): Promise<readonly Candidate[]>
  close(): void
}

/** Changed or removed providers are noticed within this. */
const FOR_MS = 5_000
const MOST = 10_000

/** As it was made, and what of. */
interface Made {
  setup: string
  candidate: Candidate
}

export function choosing({ channel, tenancy, sandbox, build, clock }: CandidateParts): Candidates {
  const inbox: readonly Candidate[] = [{ name: 'sandbox', type: 'sandbox', provider: sandbox }]
  /** By app. */
  const kept = new Map<string, Made[]>()

  async function load(app_id: string): Promise<readonly Candidate[]> {
    const setups = await tenancy.providers(app_id, channel)
    const before = kept.get(app_id) ?? []
    const now = setups.flatMap(setup => {
      const text = JSON.stringify(setup)
      const same = before.find(one => one.setup === text)
      if (same) return [same]
      const provider = build(setup)
      return provider ? [{ setup: text, candidate: { name: setup.name, type: setup.type, provider } }] : []
    })
    kept.delete(app_id)
    kept.set(app_id, now)
    for (const { candidate } of before.filter(one => !now.includes(one))) candidate.provider.close?.()
    if (kept.size > MOST) dismiss(kept.keys().next().value as string)
    return now.map(({ candidate }) => candidate)
  }

  function dismiss(app_id: string): void {
    for (const { candidate } of kept.get(app_id) ?? []) candidate.provider.close?.()
    kept.delete(app_id)
  }

  const live = cached(load, { forMs: FOR_MS, most: MOST, clock })

  return {
    ofApp: live.get,
    async of(errand) {
      const { mode, app_id } = errand.otp
      const all = mode === 'test' ? inbox : await live.get(app_id)
      const chatty = isAnswer(errand) ? all.filter(({ provider }) => provider.reply) : []
      return chatty.length > 0 ? chatty : all
    },
    close() {
      for (const app_id of [...kept.keys()]) dismiss(app_id)
    },
  }
}

// Which providers may carry a delivery, in the order to try them. A test key's messages go to the sandbox and nowhere else. A provider
// is made once and kept while its setup stays as it is: it may hold connections.
import { cached } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Channel } from '../../machines/channels.ts'
import type { Tenancy, UnreadableProvider } from '../domain/tenancy/tenancy.ts'
import { type Candidate, isAnswer } from './attempt.ts'
import type { Build } from './build.ts'
import type { Errand, Provider } from './provider.ts'

export interface CandidateParts {
  channel: Channel
  tenancy: Pick<Tenancy, 'setups'>
  sandbox: Provider
  build: Build
  clock: Clock
}

export interface Candidates {
  of(errand: Errand): Promise<readonly Candidate[]>
  /** All of an app's on this channel. */
  ofApp(app_id: string): Promise<readonly Candidate[]>
  /** Rejects with a key problem where there are none and there would be: a delivery waits for the key, and does not fail. */
  expectSome(errand: Errand): Promise<void>
  close(): void
}

const NOBODY_HIDDEN: Loaded = { candidates: [], unreadable: [] }

/** Changed or removed providers are noticed within this. */
const FOR_MS = 5_000
const MOST = 10_000

interface Loaded {
  candidates: readonly Candidate[]
  unreadable: readonly UnreadableProvider[]
}

/** As it was made, and what of. */
interface Made {
  setup: string
  candidate: Candidate
}

export function choosing({ channel, tenancy, sandbox, build, clock }: CandidateParts): Candidates {
  const inbox: readonly Candidate[] = [{ name: 'sandbox', type: 'sandbox', provider: sandbox }]
  /** By app. */
  const kept = new Map<string, Made[]>()

  async function load(app_id: string): Promise<Loaded> {
    const { providers: setups, unreadable } = await tenancy.setups(app_id, channel)
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
    return { candidates: now.map(({ candidate }) => candidate), unreadable }
  }

  function dismiss(app_id: string): void {
    for (const { candidate } of kept.get(app_id) ?? []) candidate.provider.close?.()
    kept.delete(app_id)
  }

  const live = cached(load, { forMs: FOR_MS, most: MOST, clock })

  return {
    ofApp: async app_id => (await live.get(app_id)).candidates,
    async expectSome({ otp: { mode, app_id } }) {
      const { candidates, unreadable } = mode === 'test' ? NOBODY_HIDDEN : await live.get(app_id)
      if (candidates.length === 0 && unreadable[0]) throw unreadable[0].problem
    },
    async of(errand) {
      const { mode, app_id } = errand.otp
      const all = mode === 'test' ? inbox : (await live.get(app_id)).candidates
      const chatty = isAnswer(errand) ? all.filter(({ provider }) => provider.reply) : []
      return chatty.length > 0 ? chatty : all
    },
    close() {
      for (const app_id of [...kept.keys()]) dismiss(app_id)
    },
  }
}

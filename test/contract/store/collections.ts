// The collections of the store contract, and the fixture that its cases get.
import type { Doc, Docs, RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, type Store } from '../../../infra/store/store.ts'

export interface Thing extends RevisedDoc {
  group: string
  rank?: unknown
  owner?: { city?: string; name?: string }
  due_at?: number
  email?: string | null
  slot?: number
  active?: boolean
  data?: unknown
  n?: number
  list?: unknown[]
}

export interface Coded extends Doc {
  code?: string | number | null
  note?: string
}

export interface Counter extends Doc {
  group?: string
  kind?: string
  n?: number
  granted?: number
  spent?: number
  data?: unknown
  window?: { start?: number; of?: string }
}

export const CONTRACT_COLLECTIONS = {
  things: collection<Thing>({
    indexes: [
      { fields: { group: 1 } },
      { fields: { group: 1, rank: 1 } },
      { fields: { group: 1, 'owner.city': 1, rank: -1 } },
      { fields: { due_at: 1 }, partial: { due_at: { $exists: true } } },
      { fields: { group: 1, email: 1 }, unique: true, partial: { email: { $exists: true } } },
      { fields: { group: 1, slot: 1 }, unique: true, partial: { active: true } },
    ],
    keepLatest: true,
  }),
  coded: collection<Coded>({ indexes: [{ fields: { code: 1 }, unique: true }] }),
  counters: collection<Counter>({ indexes: [{ fields: { group: 1 } }], purged: true }),
}

export type ContractStore = Store<typeof CONTRACT_COLLECTIONS>

export interface StoreUnderTest {
  store: ContractStore
  /** What the engine's clock shows. */
  now(): number
  /** Opens the same data again. An engine that allows only one handle closes `store` first. */
  reopen(): Promise<ContractStore>
  /** Closes every handle and leaves nothing behind. */
  close(): Promise<void>
}

/** One open store that all cases share, and names that no other case has used. */
export interface StoreFixture {
  open(): Promise<StoreUnderTest>
  things(): Docs<Thing>
  coded(): Docs<Coded>
  counters(): Docs<Counter>
  /** A name of a group, or a prefix of ids. */
  fresh(): string
}

/** `count` things of one group, `rank` counting from 0, ids in the order of their ranks. */
export const things = (group: string, count: number, more: (i: number) => Partial<Thing> = () => ({})): Thing[] =>
  Array.from({ length: count }, (_, i) => ({
    _id: `${group}-${String(i).padStart(5, '0')}`,
    rev: 1,
    group,
    rank: i,
    ...more(i),
  }))

export const ids = (docs: Iterable<Doc>): string[] => [...docs].map(doc => doc._id)

/** The error that a call rejects with. */
export const failure = async (call: Promise<unknown>): Promise<unknown> => {
  try {
    await call
  } catch (error) {
    return error
  }
  throw new Error('it was not rejected')
}

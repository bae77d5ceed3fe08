// Kills this process (-9) just before or just after the nth call of one method of a port. It decorates the port, so that the product's code
// contains nothing of it.
import process from 'node:process'
import { z } from 'zod'
import type { Broker } from '../../infra/broker/broker.ts'
import { createTopology, type Queue } from '../../infra/broker/topology.ts'
import type { Collections, Store } from '../../infra/store/store.ts'

const { calls, work } = createTopology({ channel: [], webhook: [] })
const QUEUES = [...calls, ...Object.keys(work)] as Queue[]

const momentFields = { nth: z.int().min(1), when: z.enum(['before', 'after']) }

const crashPoint = z.discriminatedUnion('port', [
  z.strictObject({
    port: z.literal('broker'),
    /** `handle` is a consumer's or a server's handler. */
    method: z.enum(['publish', 'request', 'handle']),
    /** Only calls on this queue count. */
    queue: z.enum(QUEUES).optional(),
    ...momentFields,
  }),
  z.strictObject({
    port: z.literal('store'),
    /** `<collection>.<method>`, e.g. `otps.insert`. */
    method: z.string().regex(/^\w+\.\w+$/),
    ...momentFields,
  }),
])

export type CrashPoint = z.output<typeof crashPoint>
type PointOf<P extends CrashPoint['port']> = Extract<CrashPoint, { port: P }>

/** Passes a crash point to a child process, as JSON in its environment. */
export const crashEnv = (point: CrashPoint | null): { CRASH: string } => ({ CRASH: point ? JSON.stringify(point) : '' })

export const readCrashPoint = ({ CRASH }: { CRASH?: string | undefined }): CrashPoint | null =>
  CRASH ? crashPoint.parse(JSON.parse(CRASH)) : null

/** Decorates the port that the point names; the other stays as it is. */
export const withCrash = <C extends Collections, Rest>(
  { broker, store, ...rest }: { broker: Broker; store: Store<C> } & Rest,
  point: CrashPoint | null,
  die: () => void = killSelf,
): { broker: Broker; store: Store<C> } & Omit<Rest, 'broker' | 'store'> => ({
  ...(rest as Omit<Rest, 'broker' | 'store'>),
  broker: point?.port === 'broker' ? crashingBroker(broker, point, die) : broker,
  store: point?.port === 'store' ? crashingStore(store, point, die) : store,
})

type Method = (...args: never[]) => Promise<unknown>

function crashingBroker(broker: Broker, point: PointOf<'broker'>, die: () => void = killSelf): Broker {
  const wrap = createCrashWrapper(point, die)
  const wrapIfNamed = <M extends Method>(method: typeof point.method, queue: Queue, call: M): M =>
    point.method === method && (point.queue ?? queue) === queue ? wrap(call) : call
  return {
    ...broker,
    publish: (queue, message) => wrapIfNamed('publish', queue, broker.publish)(queue, message),
    request: (queue, message, budgetMs) => wrapIfNamed('request', queue, broker.request)(queue, message, budgetMs),
    consume: (queue, handle, flow) => broker.consume(queue, wrapIfNamed('handle', queue, handle), flow),
    serve: (queue, answer, flow) => broker.serve(queue, wrapIfNamed('handle', queue, answer), flow),
  }
}

function crashingStore<C extends Collections>(
  store: Store<C>,
  point: PointOf<'store'>,
  die: () => void = killSelf,
): Store<C> {
  const [collection = '', method = ''] = point.method.split('.')
  // A misspelt method would make a test that never crashes.
  if (!(method in store.docs(collection))) throw new TypeError(`There is no ${point.method}`)
  const wrap = createCrashWrapper(point, die)
  return {
    ...store,
    docs(name) {
      const docs = store.docs(name)
      return name === collection ? { ...docs, [method]: wrap(docs[method as keyof typeof docs] as Method) } : docs
    },
  }
}

/** Counts the calls of all methods it wraps together, because `docs('x')` may be called many times. */
function createCrashWrapper({ nth, when }: CrashPoint, die: () => void) {
  let calls = 0
  return <M extends Method>(method: M): M =>
    (async (...args: never[]) => {
      calls += 1
      const isCrashPoint = calls === nth
      if (isCrashPoint && when === 'before') die()
      const result = await method(...args)
      if (isCrashPoint && when === 'after') die()
      return result
    }) as M
}

function killSelf(): never {
  process.kill(process.pid, 'SIGKILL')
  // Until the signal arrives, no further code may run.
  for (;;);
}

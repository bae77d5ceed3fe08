// Kills this process (-9) just before or just after the nth call of one method of a port. It decorates the port from outside;
// product code knows nothing of it. Methods are named as they are called:
//   broker: publish, request, handle (a consumer's or server's handler)      store: <collection>.<method>, e.g. companies.insert
import process from 'node:process'
import type { Broker } from '../../infra/broker/broker.ts'
import type { Collections, Store } from '../../infra/store/store.ts'

export interface CrashPoint {
  port: 'broker' | 'store'
  method: string
  nth: number
  when: 'before' | 'after'
}

type Method = (...args: never[]) => Promise<unknown>

export function crashingBroker(broker: Broker, point: CrashPoint | null, die = killed): Broker {
  if (point?.port !== 'broker') return broker
  const strike = striker(point, die)
  const handler = <H extends Method>(handle: H): H => (point.method === 'handle' ? strike(handle) : handle)
  return {
    ...broker,
    ...(point.method === 'publish' ? { publish: strike(broker.publish) } : {}),
    ...(point.method === 'request' ? { request: strike(broker.request) } : {}),
    consume: (queue, handle, flow) => broker.consume(queue, handler(handle), flow),
    serve: (queue, answer, flow) => broker.serve(queue, handler(answer), flow),
  }
}

export function crashingStore<C extends Collections>(
  store: Store<C>,
  point: CrashPoint | null,
  die = killed,
): Store<C> {
  if (point?.port !== 'store') return store
  const [collection, method] = point.method.split('.')
  const strike = striker(point, die)
  return {
    ...store,
    docs(name) {
      const docs = store.docs(name)
      if (name !== collection || !method) return docs
      return { ...docs, [method]: strike(docs[method as keyof typeof docs] as Method) }
    },
  }
}

/** One count over everything it wraps: `docs('x')` asked for twice is still the same nth call. */
function striker(point: CrashPoint, die: () => void) {
  let calls = 0
  return <M extends Method>(method: M): M =>
    (async (...args: never[]) => {
      calls += 1
      const struck = calls === point.nth
      if (struck && point.when === 'before') die()
      const result = await method(...args)
      if (struck && point.when === 'after') die()
      return result
    }) as M
}

function killed(): never {
  process.kill(process.pid, 'SIGKILL')
  // The signal is on its way: not one more instruction of the product may run.
  for (;;);
}

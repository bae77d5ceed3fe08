// Holds the services to the rights of their roles (infra/deploy/rights.ts). In: the services. Out: the same services,
// on a store that throws where a user of the role would be refused. So every test that runs them shows that the table
// is complete.
import type { Role } from '../../infra/config/config.ts'
import { type Action, collectionsOf } from '../../infra/deploy/rights.ts'
import type { Doc, Docs } from '../../infra/store/docs.ts'
import { type Runtime, SERVICES, type Services } from '../../services/main.ts'

class NoRight extends Error {
  override name = 'NoRight'
}

/** What MongoDB asks of a user for each operation of the port. A bulk of changes, an update and a removal of many read what they write. */
const NEEDS: Readonly<Record<keyof Docs<Doc>, readonly Action[]>> = {
  get: ['find'],
  find: ['find'],
  count: ['find'],
  insert: ['insert'],
  change: ['find', 'update'],
  update: ['find', 'update'],
  modify: ['find', 'update'],
  remove: ['find', 'remove'],
}

function withinRights(role: Role, store: Runtime['store']): Runtime['store'] {
  const check = (action: Action, name: string): void => {
    if (!collectionsOf(role, action).includes(name))
      throw new NoRight(`the role ${role} has no right to ${action} in ${name}: infra/deploy/rights.ts`)
  }
  const checked = (docs: Docs<Doc>, name: string): Docs<Doc> =>
    new Proxy(docs, {
      get:
        (target, operation: keyof Docs<Doc>) =>
        async (...args: [unknown, unknown, { upsert?: boolean }?]) => {
          for (const action of NEEDS[operation]) check(action, name)
          if (operation === 'modify' && args[2]?.upsert) check('insert', name)
          return (target[operation] as (...given: unknown[]) => unknown)(...args)
        },
    })
  return { ...store, docs: name => checked(store.docs(name) as unknown as Docs<Doc>, name) as never }
}

/** In place of the services themselves, in every test that starts them in this process. */
export const SERVICES_WITHIN_RIGHTS: Services = Object.fromEntries(
  (Object.entries(SERVICES) as [Role, (runtime: Runtime) => ReturnType<typeof SERVICES.edge>][]).map(
    ([role, create]) => [role, (runtime: Runtime) => create({ ...runtime, store: withinRights(role, runtime.store) })],
  ),
)

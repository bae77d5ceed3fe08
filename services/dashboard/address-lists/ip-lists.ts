// GET|PUT /ip-lists. A PUT says which lists there are from now on: one that it does not name is removed, one that it names without
// saying what is in it stays as it is. What has to be read is read afterwards; GET shows how far it is.

import { notCalled } from '../../../infra/outbound/inspect.ts'
import { removeList } from '../../domain/address-lists/chunks.ts'
import { BOOTSTRAP, everyList, type IpListDoc, listId } from '../../domain/address-lists/documents.ts'
import { importing } from '../../domain/address-lists/imports.ts'
import type { Resource } from '../admin.ts'
import type { Change, Unchanged } from '../audited.ts'
import { bodies, invalid } from '../requests.ts'
import { type GivenList, givenLists, LARGEST_BODY } from './given.ts'
import { type Planned, planned } from './planned.ts'
import { recordedList, shownList } from './shown.ts'

export const ipLists: Resource = (router, { store, clock, log, inspect, audited, inTurn, background }) => {
  const lists = store.docs('ip_lists')
  const run = importing({ store, clock, log })
  const body = bodies(LARGEST_BODY)
  const shown = async () => ({ items: (await everyList(lists)).map(shownList), next_cursor: null })

  router.get('/ip-lists', async ctx => {
    ctx.body = await shown()
  })

  router.put('/ip-lists', async ctx => {
    const given = (await body(ctx, givenLists)).lists
    await refuseUncallable(given)
    // What a PUT leaves must be what it said, not what several said together.
    ctx.body = await inTurn('ip-lists', async keep => {
      const begun = await audited(ctx, () => changeTo(given, keep))
      for (const { list, text } of begun) if (text !== null) background(() => run(list, async () => text))
      return shown()
    })
  })

  async function changeTo(
    given: readonly GivenList[],
    keep: () => Promise<void>,
  ): Promise<Change<Planned[]> | Unchanged<Planned[]>> {
    const stored = await everyList(lists)
    const plan = planned(given, stored, clock.now())
    if ('problems' in plan) throw invalid(plan.problems)
    const { changes } = plan
    const named = new Set(given.map(one => listId(one.class, one.name)))
    const gone = stored.filter(({ _id, name }) => name !== BOOTSTRAP && !named.has(_id))
    if (changes.length + gone.length === 0) return { unchanged: [] }
    const changed = new Map(changes.map(({ list }) => [list._id, list]))
    const kept = stored.filter(list => !gone.includes(list) && !changed.has(list._id))
    return {
      ...{ action: 'ip_lists.change', target: 'ip-lists', company_id: null },
      ...{ before: recorded(stored), after: recorded([...kept, ...changed.values()]) },
      perform: async () => {
        for (const change of changes) {
          await keep()
          if (!(await written(change))) return null
        }
        for (const list of gone) {
          await keep()
          if (!(await removeList(store, list))) return null
        }
        return changes
      },
    }
  }

  async function written({ list, rev, changed }: Planned): Promise<boolean> {
    if (rev === null) return (await lists.insert([list]))[0] === 'inserted'
    return (await lists.change([{ _id: list._id, rev, update: changed }]))[0] === 'won'
  }

  async function refuseUncallable(given: readonly GivenList[]): Promise<void> {
    const refusals = await Promise.all(
      given.map(async ({ url }, at) => {
        const refusal = url === undefined ? null : await inspect.url(url)
        return refusal === null ? [] : [{ path: `lists.${at}.url`, message: notCalled(refusal) }]
      }),
    )
    if (refusals.flat().length > 0) throw invalid(refusals.flat())
  }
}

const recorded = (lists: readonly IpListDoc[]) =>
  [...lists].sort((one, other) => (one._id < other._id ? -1 : 1)).map(recordedList)

// GET|PUT /ip-lists. A PUT replaces all lists: a list that it does not name is removed, and a list that it names without content stays as
// it is. Content is imported after the answer; GET shows the progress.
import { targetProblem } from '../../../infra/outbound/target-inspector.ts'
import { loadVersion, removeList } from '../../domain/address-lists/chunks.ts'
import { type AddressListDoc, BOOTSTRAP_LIST_NAME, findAllLists, listId } from '../../domain/address-lists/documents.ts'
import { createRunImport, LISTS_CHANGE } from '../../domain/address-lists/imports.ts'
import type { AddRoutes } from '../admin-deps.ts'
import { createReadBody, validationProblem } from '../request-input.ts'
import type { Change, Unchanged } from '../with-audit.ts'
import { addressListsBody, type ListInput, MAX_BODY_BYTES } from './body.ts'
import { findUnconfirmed, type ParsedInput, parseInput } from './confirmation.ts'
import { type ListChange, planListChanges } from './plan.ts'
import { listAuditFields, listView } from './view.ts'

export const addAddressListRoutes: AddRoutes = (
  router,
  { store, clock, log, inspect, withAudit, changeExclusively, runInBackground },
) => {
  const lists = store.docs('ip_lists')
  const runImport = createRunImport({ store, clock, changeExclusively, log })
  const readBody = createReadBody(MAX_BODY_BYTES)
  const viewAll = async () => ({ items: (await findAllLists(lists)).map(listView), next_cursor: null })

  router.get('/ip-lists', async ctx => {
    ctx.body = await viewAll()
  })

  router.put('/ip-lists', async ctx => {
    const { lists: inputs } = await readBody(ctx, addressListsBody)
    await refuseUncallable(inputs)
    const given = await parseInput(inputs)
    // Two PUTs at once must leave the lists of one of them, not a mixture.
    ctx.body = await changeExclusively(LISTS_CHANGE, async renewLease => {
      const listChanges = await withAudit(ctx, () => planChange(given, renewLease))
      for (const { list, content } of listChanges)
        if (content !== null) runInBackground(() => runImport(list, async () => content))
      return viewAll()
    })
  })

  async function planChange(
    given: readonly ParsedInput[],
    renewLease: () => Promise<void>,
  ): Promise<Change<ListChange[]> | Unchanged<ListChange[]>> {
    const stored = await findAllLists(lists)
    const plan = planListChanges(given, stored, clock.now())
    if ('problems' in plan) throw validationProblem(plan.problems)
    const unconfirmed = await findUnconfirmed(given, stored, async list => {
      await renewLease()
      return loadVersion(store.docs('ip_chunks'), list)
    })
    if (unconfirmed.length > 0) throw validationProblem(unconfirmed)
    const { changes } = plan
    const namedIds = new Set(given.map(one => listId(one.class, one.name)))
    const removed = stored.filter(({ _id, name }) => name !== BOOTSTRAP_LIST_NAME && !namedIds.has(_id))
    if (changes.length + removed.length === 0) return { unchanged: [] }
    const changed = new Map(changes.map(({ list }) => [list._id, list]))
    const kept = stored.filter(list => !removed.includes(list) && !changed.has(list._id))
    return {
      action: 'ip_lists.change',
      target: 'ip-lists',
      company_id: null,
      before: auditFields(stored),
      after: auditFields([...kept, ...changed.values()]),
      perform: async () => {
        for (const change of changes) {
          await renewLease()
          if (!(await writeChange(change))) return null
        }
        for (const list of removed) {
          await renewLease()
          if (!(await removeList(store, list))) return null
        }
        return changes
      },
    }
  }

  async function writeChange({ list, rev, update }: ListChange): Promise<boolean> {
    if (rev === null) return (await lists.insert([list]))[0] === 'inserted'
    return (await lists.change([{ _id: list._id, rev, update }]))[0] === 'won'
  }

  async function refuseUncallable(given: readonly ListInput[]): Promise<void> {
    const refusals = await Promise.all(
      given.map(async ({ url }, at) => {
        const refusal = url === undefined ? null : await inspect.url(url)
        return refusal === null ? [] : [{ path: `lists.${at}.url`, message: targetProblem(refusal) }]
      }),
    )
    if (refusals.flat().length > 0) throw validationProblem(refusals.flat())
  }
}

const auditFields = (lists: readonly AddressListDoc[]) =>
  [...lists].sort((one, other) => (one._id < other._id ? -1 : 1)).map(listAuditFields)

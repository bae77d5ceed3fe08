// The address lists. A PUT replaces all lists: a list that it does not name is removed, and a list that it names without content stays as
// it is. Content is imported after the answer; GET shows the progress.
import { type TargetInspector, targetProblem } from '../../../infra/outbound/target-inspector.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { changeOne } from '../../../infra/store/one-doc.ts'
import { loadVersion, removeList } from '../../domain/address-lists/chunks.ts'
import { type AddressListDoc, BOOTSTRAP_LIST_NAME, findAllLists, listId } from '../../domain/address-lists/documents.ts'
import { createRunImport, LISTS_CHANGE } from '../../domain/address-lists/imports.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { conflict, page } from '../answers.ts'
import { operation } from '../operation.ts'
import { validationProblem } from '../request-input.ts'
import type { Change, Unchanged } from '../with-audit.ts'
import { addressListsBody, type ListInput, MAX_BODY_BYTES, MAX_BODY_VALUES } from './body.ts'
import { findUnconfirmed, type ParsedInput, parseInput } from './confirmation.ts'
import { type ListChange, planListChanges } from './plan.ts'
import { type AddressListAnswer, addressListPage } from './schemas.ts'
import { listAuditFields, listView } from './view.ts'

const example: AddressListAnswer = {
  class: 'vpn',
  name: 'default',
  source: { kind: 'url', url: 'https://lists.example/vpn.txt' },
  refresh_seconds: 86_400,
  version: '01k2m8x4e9s7v3hqz5tnw6yb0c',
  ranges: 8_912,
  ignored: 3,
  bad: 0,
  bad_lines: [],
  refreshed_at: '2030-01-01T12:00:00.000Z',
  status: 'ready',
  progress: null,
  problem: null,
}

const viewAll = async (store: CountersignStore) => ({
  items: (await findAllLists(store.docs('ip_lists'))).map(listView),
  next_cursor: null,
})

export const addressListOperations = [
  operation({
    id: 'listAddressLists',
    request: 'GET /ip-lists',
    role: 'operator',
    summary: 'List the address lists',
    description: 'All of them in one page, with the progress of imports.',
    answers: [page(addressListPage, 'The lists.', example)],
    handle: (_, { store }) => viewAll(store),
  }),
  operation({
    id: 'replaceAddressLists',
    request: 'PUT /ip-lists',
    role: 'operator',
    summary: 'Replace all address lists',
    description:
      'A list that is not named is removed, and one that is named without a source stays as it is. Content is imported after the answer.',
    body: {
      schema: addressListsBody,
      example: { lists: [{ class: 'abusive', name: 'own', cidrs: ['45.95.147.0/24'] }] },
      maxBytes: MAX_BODY_BYTES,
      maxValues: MAX_BODY_VALUES,
    },
    answers: [page(addressListPage, 'All lists as they are now.', example)],
    refusals: [conflict('Another PUT of all lists takes more than 10 s.')],
    keep: createRunImport,
    handle: async ({ ctx, body: { lists } }, admin, runImport) => {
      const { store, inspect, withAudit, changeExclusively, runInBackground } = admin
      await refuseUncallable(inspect, lists)
      const given = await parseInput(lists)
      // Two PUTs at once must leave the lists of one of them, not a mixture.
      return changeExclusively(LISTS_CHANGE, async renewLease => {
        const listChanges = await withAudit(ctx, () => planChange(admin, given, renewLease))
        for (const { list, content } of listChanges)
          if (content !== null) runInBackground(() => runImport(list, async () => content))
        return viewAll(store)
      })
    },
  }),
]

async function planChange(
  { store, clock }: Pick<AdminDeps, 'store' | 'clock'>,
  given: readonly ParsedInput[],
  renewLease: () => Promise<void>,
): Promise<Change<ListChange[]> | Unchanged<ListChange[]>> {
  const lists = store.docs('ip_lists')
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
        if (!(await writeChange(lists, change))) return null
      }
      for (const list of removed) {
        await renewLease()
        if (!(await removeList(store, list))) return null
      }
      return changes
    },
  }
}

async function writeChange(
  lists: Pick<Docs<AddressListDoc>, 'insert' | 'change'>,
  { list, rev, update }: ListChange,
): Promise<boolean> {
  if (rev === null) return (await lists.insert([list]))[0] === 'inserted'
  return changeOne(lists, { _id: list._id, rev, update })
}

async function refuseUncallable(inspect: TargetInspector, given: readonly ListInput[]): Promise<void> {
  const refusals = await Promise.all(
    given.map(async ({ url }, at) => {
      const refusal = url === undefined ? null : await inspect.url(url)
      return refusal === null ? [] : [{ path: `lists.${at}.url`, message: targetProblem(refusal) }]
    }),
  )
  if (refusals.flat().length > 0) throw validationProblem(refusals.flat())
}

const auditFields = (lists: readonly AddressListDoc[]) =>
  [...lists].sort((one, other) => (one._id < other._id ? -1 : 1)).map(listAuditFields)

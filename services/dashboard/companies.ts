// Companies: tenants, each with apps and a balance.
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { httpException } from '../../infra/http/problem.ts'
import { newId } from '../../infra/ids.ts'
import { isoTime, isoTimeOrNull } from '../../infra/iso-time.ts'
import { changeOne } from '../../infra/store/one-doc.ts'
import { deleteUsers, markAppsDeleted } from '../domain/deletion/delete-owned.ts'
import { openAccount } from '../domain/money/batches.ts'
import { DEFAULT_TIMEZONE, isTimeZone } from '../domain/money/month.ts'
import { timeSchema } from '../domain/openapi/shared-schemas.ts'
import { type Company, MAX_APPS, MAX_USERS } from '../domain/tenancy/documents.ts'
import { lowBalance, withLowBalance } from '../domain/tenancy/low-balance.ts'
import { shownName } from '../domain/tenancy/value-schemas.ts'
import { principalOf } from './access.ts'
import { conflict, noContent, ok, page } from './answers.ts'
import { changeClosing, closed, deletableAt, deletableAtOf, NOT_DELETABLE, requireDeletable } from './closing.ts'
import { operation } from './operation.ts'
import { pageOf } from './page-schema.ts'
import { pageQuery } from './pages.ts'
import { getOr404 } from './request-input.ts'

const timezone = z.string().refine(isTimeZone, 'must be a time zone, such as "Europe/Berlin"')

const company = z
  .object({
    id: z.string().meta({ description: 'Identifies the company.' }),
    name: z.string().meta({ description: 'The name of the company.' }),
    balance: z.int().meta({ description: 'In micro-units of your currency.' }),
    low_balance_micros: lowBalance.nullable(),
    timezone: timezone.meta({ description: 'The time zone in which its months begin and end.' }),
    max_apps: z.int().meta({ description: 'How many apps it may have, closed ones included.' }),
    max_users: z.int().meta({ description: 'How many users it may have, invitations included.' }),
    created_at: timeSchema('When it was created.'),
    closed_at: timeSchema('When it was closed: its keys are refused since. Null while it is open.').nullable(),
    deletable_at: deletableAt,
  })
  .meta({ id: 'Company', description: 'A tenant. Its apps share its balance.' })
type CompanyAnswer = z.output<typeof company>

const example: CompanyAnswer = {
  id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  name: 'Acme',
  balance: 5_000_000,
  low_balance_micros: 1_000_000,
  timezone: 'UTC',
  max_apps: MAX_APPS,
  max_users: MAX_USERS,
  created_at: '2030-01-01T12:00:00.000Z',
  closed_at: null,
  deletable_at: null,
}

const companyView = ({ _id, ...company }: ChangedCompany): CompanyAnswer => ({
  id: _id,
  name: company.name,
  balance: company.balance,
  low_balance_micros: company.low_balance_micros ?? null,
  timezone: company.timezone ?? DEFAULT_TIMEZONE,
  max_apps: company.max_apps ?? MAX_APPS,
  max_users: company.max_users ?? MAX_USERS,
  created_at: isoTime(company.created_at),
  closed_at: isoTimeOrNull(company.closed_at ?? null),
  deletable_at: deletableAtOf(company),
})

/** As it is stored, or about to be. */
type ChangedCompany = Omit<Company, 'low_balance_micros'> & { low_balance_micros?: number | null }

const auditFields = ({
  name,
  low_balance_micros = null,
  timezone = DEFAULT_TIMEZONE,
  max_apps = MAX_APPS,
  max_users = MAX_USERS,
  closed_at = null,
}: ChangedCompany) => ({
  name,
  low_balance_micros,
  timezone,
  max_apps,
  max_users,
  closed_at: isoTimeOrNull(closed_at),
})

/** By id: no index has those that are not being deleted. */
const NOT_DELETED = { _id: { $gt: '' }, deleted_at: { $exists: false } } as const

const most = z.int().min(1).max(10_000).optional()

export const companyOperations = [
  operation({
    id: 'listCompanies',
    request: 'GET /companies',
    role: 'viewer',
    summary: 'List companies',
    description: 'The companies that the caller may see, by id.',
    query: pageQuery,
    answers: [page(pageOf('CompanyPage', company), 'A page of companies.', example)],
    handle: async ({ ctx, query }, { store, readPage }) => {
      const docs = store.docs('companies')
      const { company_id } = principalOf(ctx)
      if (company_id === null) return readPage(ctx, { docs, filter: NOT_DELETED, show: companyView }, query)
      return { items: [companyView(await getOr404(ctx, docs, company_id, 'company'))], next_cursor: null }
    },
  }),
  operation({
    id: 'createCompany',
    request: 'POST /companies',
    role: 'operator',
    summary: 'Create a company',
    description: 'A company has a balance and apps.',
    body: {
      schema: z.strictObject({ name: shownName() }).meta({ id: 'CreateCompanyRequest', description: 'A new company.' }),
      example: { name: 'Acme' },
    },
    answers: [ok(company, 'The new company.', { ...example, balance: 0 }, 201)],
    handle: ({ ctx, body: { name } }, { store, clock, withAudit }) =>
      withAudit(ctx, () => {
        const now = clock.now()
        const _id = newId('cmp', now)
        const company: Company = { _id, name, ...openAccount(_id, 0, now), created_at: now, rev: 0 }
        return {
          action: 'company.create',
          target: _id,
          company_id: _id,
          before: null,
          after: { name },
          perform: async () =>
            (await store.docs('companies').insert([company]))[0] === 'inserted' ? companyView(company) : null,
        }
      }),
  }),
  operation({
    id: 'getCompany',
    request: 'GET /companies/{id}',
    role: 'viewer',
    summary: 'Look a company up',
    description: 'The company with its balance.',
    answers: [ok(company, 'The company.', example)],
    handle: async ({ company }) => companyView(company),
  }),
  operation({
    id: 'changeCompany',
    request: 'PATCH /companies/{id}',
    role: 'owner',
    summary: 'Change a company',
    description:
      "Renames or closes it, or sets the balance below which its owners are told. A closed company's keys are refused. Its data is kept until retention. `closed: false` opens it again. Closing, opening, and the numbers of apps and users need an operator. A company that has more of them keeps them.",
    body: {
      schema: z
        .strictObject({
          name: shownName().optional(),
          low_balance_micros: lowBalance.nullable().optional(),
          timezone: timezone.optional(),
          max_apps: most.meta({ description: `How many apps it may have; ${MAX_APPS} at first.` }),
          max_users: most.meta({ description: `How many users it may have; ${MAX_USERS} at first.` }),
          closed,
        })
        .meta({ id: 'ChangeCompanyRequest', description: 'Changes a company.' }),
      example: { name: 'Acme Ltd' },
    },
    answers: [ok(company, 'The company.', { ...example, name: 'Acme Ltd' })],
    stepUp: ({ body: { closed } }) => closed !== undefined,
    handle: async ({ ctx, params, body }, deps) => {
      const { name, low_balance_micros, timezone, max_apps, max_users, closed } = body
      const { store, clock, withAudit } = deps
      const docs = store.docs('companies')
      // A company that its operator closed must not be able to reopen itself.
      if (closed !== undefined && principalOf(ctx).role !== 'operator')
        throw httpException(403, 'Only an operator closes and reopens a company.')
      const numbers = { ...(max_apps && { max_apps }), ...(max_users && { max_users }) }
      if (Object.keys(numbers).length > 0 && principalOf(ctx).role !== 'operator')
        throw httpException(403, 'Only an operator changes how many apps and users a company may have.')
      return withAudit(ctx, async () => {
        const stored = await getOr404(ctx, docs, params.id, 'company')
        const zone = timezone === undefined ? {} : { timezone }
        const change = {
          name: name ?? stored.name,
          ...zone,
          ...numbers,
          ...changeClosing(stored, closed, principalOf(ctx), clock.now()),
        }
        const threshold = low_balance_micros === undefined ? (stored.low_balance_micros ?? null) : low_balance_micros
        const company = { ...stored, ...change, low_balance_micros: threshold }
        if (isDeepStrictEqual(auditFields(stored), auditFields(company))) return { unchanged: companyView(stored) }
        const { _id, rev } = stored
        return {
          action: 'company.change',
          target: _id,
          company_id: _id,
          before: auditFields(stored),
          after: auditFields(company),
          perform: async () =>
            (await changeOne(docs, { _id, rev, update: withLowBalance(change, threshold) }))
              ? companyView(company)
              : null,
        }
      })
    },
  }),
  operation({
    id: 'deleteCompany',
    request: 'DELETE /companies/{id}',
    role: 'owner',
    allowedWhenClosed: true,
    stepUp: true,
    summary: 'Delete a company',
    description:
      'For good: its apps with all that belongs to them, its people and their sessions at once, its notices, its balance. The ledger and the audit log stay, for operators. Only a company that was closed 30 days ago or earlier is deleted.',
    answers: [noContent('The company is gone. What belongs to it is deleted within minutes.')],
    refusals: [conflict(NOT_DELETABLE)],
    handle: async ({ ctx, params }, { store, clock, withAudit }) => {
      const docs = store.docs('companies')
      await withAudit(ctx, async () => {
        const stored = await getOr404(ctx, docs, params.id, 'company')
        const now = clock.now()
        requireDeletable(stored, 'company', now)
        const { _id, rev, name, balance, closed_at = null } = stored
        return {
          action: 'company.delete',
          target: _id,
          company_id: _id,
          before: { name, balance, closed_at: isoTimeOrNull(closed_at) },
          after: null,
          perform: async () =>
            (await changeOne(docs, { _id, rev, update: { $set: { deleted_at: now } } })) ? _id : null,
        }
      })
      // The sweeper would do both too, when it comes to it.
      await markAppsDeleted(store, params.id, clock.now())
      await deleteUsers(store, params.id)
    },
  }),
]

import type { Command } from 'commander'
import { bodyOf, takeItems } from '../api.ts'
import { addLimit, type LimitOption, parseCount } from '../options.ts'
import { examples, type Session } from '../session.ts'
import { addNameAndClosing } from './name-and-closing.ts'

export function addCompanies(program: Command, session: Session): void {
  const companies = program.command('companies').description('list, create, close and delete companies')
  addLimit(companies.command('list').description('all companies')).action(async ({ limit }: LimitOption) => {
    const api = session.api()
    const items = await takeItems(limit, query => bodyOf(api.GET('/admin/v1/companies', { params: { query } })))
    session.showList(items, {
      ID: ({ id }) => id,
      NAME: ({ name }) => name,
      BALANCE: ({ balance }) => balance,
      CLOSED: ({ closed_at }) => closed_at,
    })
  })
  companies
    .command('show <company>')
    .description('one company with its balance')
    .action(async (id: string) => {
      session.showRecord(await bodyOf(session.api().GET('/admin/v1/companies/{id}', { params: { path: { id } } })))
    })
  companies
    .command('create <name>')
    .description('a new company')
    .action(async (name: string) => {
      session.showRecord(await bodyOf(session.api().POST('/admin/v1/companies', { body: { name } })))
    })
  companies
    .command('limits <company>')
    .description('how many apps and users it may have')
    .option('--apps <number>', 'closed ones included', parseCount)
    .option('--users <number>', 'invitations included', parseCount)
    .action(async (id: string, { apps, users }: { apps?: number; users?: number }) => {
      const body = {
        ...(apps === undefined ? {} : { max_apps: apps }),
        ...(users === undefined ? {} : { max_users: users }),
      }
      session.showRecord(
        await bodyOf(session.api().PATCH('/admin/v1/companies/{id}', { params: { path: { id } }, body })),
      )
    })
  addNameAndClosing(companies, 'company', session, {
    change: (id, body) => bodyOf(session.api().PATCH('/admin/v1/companies/{id}', { params: { path: { id } }, body })),
    remove: id => session.api().DELETE('/admin/v1/companies/{id}', { params: { path: { id } } }),
  })
  examples(companies, 'companies create Acme', 'companies list --limit 500', 'companies close cmp_… --yes')
}

import type { Command } from 'commander'
import { bodyOf, takeItems } from '../api.ts'
import { addLimit, type LimitOption } from '../options.ts'
import { examples, type Session } from '../session.ts'
import { addNameAndClosing } from './name-and-closing.ts'

export function addApps(program: Command, session: Session): void {
  const apps = program.command('apps').description('list, create, close and delete the apps of a company')
  addLimit(apps.command('list <company>').description('its apps')).action(
    async (id: string, { limit }: LimitOption) => {
      const api = session.api()
      const items = await takeItems(limit, query =>
        bodyOf(api.GET('/admin/v1/companies/{id}/apps', { params: { path: { id }, query } })),
      )
      session.showList(items, {
        ID: app => app.id,
        NAME: ({ name }) => name,
        CREATED: ({ created_at }) => created_at,
        CLOSED: ({ closed_at }) => closed_at,
      })
    },
  )
  apps
    .command('show <app>')
    .description('one app with its settings')
    .action(async (id: string) => {
      session.showRecord(await bodyOf(session.api().GET('/admin/v1/apps/{id}', { params: { path: { id } } })))
    })
  apps
    .command('create <company> <name>')
    .description('a new app; its name is in the messages')
    .action(async (id: string, name: string) => {
      const call = session.api().POST('/admin/v1/companies/{id}/apps', { params: { path: { id } }, body: { name } })
      session.showRecord(await bodyOf(call))
    })
  addNameAndClosing(apps, 'app', session, {
    change: (id, body) => bodyOf(session.api().PATCH('/admin/v1/apps/{id}', { params: { path: { id } }, body })),
    remove: id => session.api().DELETE('/admin/v1/apps/{id}', { params: { path: { id } } }),
  })
  examples(apps, 'apps create cmp_… Shop', 'apps list cmp_…')
}

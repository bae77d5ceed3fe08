import { type Command, Option } from 'commander'
import { bodyOf, type Schemas, takeItems } from '../api.ts'
import { addLimit, type LimitOption } from '../options.ts'
import { examples, type Session, YES } from '../session.ts'

type Role = Schemas['UserRole']

const ROLES: Role[] = ['viewer', 'developer', 'owner']

export function addUsers(program: Command, session: Session): void {
  const users = program.command('users').description("list, invite and remove a company's people")
  addLimit(users.command('list <company>').description('its users and invitations')).action(
    async (id: string, { limit }: LimitOption) => {
      const api = session.api()
      const items = await takeItems(limit, query =>
        bodyOf(api.GET('/admin/v1/companies/{id}/users', { params: { path: { id }, query } })),
      )
      session.showList(items, {
        ID: user => user.id,
        EMAIL: ({ email }) => email,
        ROLE: ({ role }) => role,
        'INVITED UNTIL': ({ invited_until }) => invited_until,
        'LAST SIGN-IN': ({ last_sign_in_at }) => last_sign_in_at,
      })
    },
  )
  users
    .command('invite <company> <email>')
    .description('grants nothing until the person signs in and accepts')
    .addOption(new Option('--role <role>', 'what the person may do').choices(ROLES).default('viewer'))
    .action(async (id: string, email: string, { role }: { role: Role }) => {
      const call = session
        .api()
        .POST('/admin/v1/companies/{id}/users', { params: { path: { id } }, body: { email, role } })
      session.showRecord(await bodyOf(call))
    })
  users
    .command('role <user>')
    .description('change what a user may do')
    .addOption(new Option('--role <role>', 'the new role').choices(ROLES).makeOptionMandatory())
    .action(async (id: string, { role }: { role: Role }) => {
      const call = session.api().PATCH('/admin/v1/users/{id}', { params: { path: { id } }, body: { role } })
      session.showRecord(await bodyOf(call))
    })
  users
    .command('remove <user>')
    .description('end their sessions and their access')
    .option(...YES)
    .action(async (id: string, options: { yes?: true }) => {
      await session.confirm(`Remove the user ${id}?`, options)
      await session.api().DELETE('/admin/v1/users/{id}', { params: { path: { id } } })
      session.showDone(`${id} is removed.`)
    })
  examples(users, 'users invite cmp_… ada@shop.example --role owner', 'users list cmp_…')
}

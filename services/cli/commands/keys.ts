import { type Command, Option } from 'commander'
import { bodyOf, type Schemas, takeItems } from '../api.ts'
import { addLimit, type LimitOption } from '../options.ts'
import { examples, type Session, YES } from '../session.ts'

type NewKey = Schemas['CreateApiKeyRequest']

export function addKeys(program: Command, session: Session): void {
  const keys = program.command('keys').description('list, create and revoke API keys')
  addLimit(keys.command('list <app>').description('its keys, never their secrets')).action(
    async (id: string, { limit }: LimitOption) => {
      const api = session.api()
      const items = await takeItems(limit, query =>
        bodyOf(api.GET('/admin/v1/apps/{id}/keys', { params: { path: { id }, query } })),
      )
      session.showList(items, {
        ID: key => key.id,
        KIND: ({ kind }) => kind,
        MODE: ({ mode }) => mode,
        NAME: ({ name }) => name,
        ENDS: ({ last4 }) => last4,
        USED: ({ last_used_at }) => last_used_at,
        REVOKED: ({ revoked_at }) => revoked_at,
      })
    },
  )
  const create = keys
    .command('create <app>')
    .description('a new key; it is shown this once')
    .addOption(new Option('--kind <kind>', 'who uses it').choices(['server', 'publishable']).makeOptionMandatory())
    .addOption(new Option('--mode <mode>', 'sandbox or real messages').choices(['test', 'live']).makeOptionMandatory())
    .option('--name <name>', 'helps to tell keys apart')
    .action(async (id: string, { kind, mode, name }: NewKey) => {
      const body = { kind, mode, ...(name === undefined ? {} : { name }) }
      session.showRecord(
        await bodyOf(session.api().POST('/admin/v1/apps/{id}/keys', { params: { path: { id } }, body })),
      )
    })
  examples(create, 'keys create app_… --kind server --mode live --name checkout')
  keys
    .command('revoke <key>')
    .description('refuse it for good, on every process within 5 s')
    .option(...YES)
    .action(async (id: string, options: { yes?: true }) => {
      await session.confirm(`Refuse the key ${id} for good?`, options)
      await session.api().DELETE('/admin/v1/keys/{id}', { params: { path: { id } } })
      session.showDone(`${id} is revoked.`)
    })
}

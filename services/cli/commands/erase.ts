import process from 'node:process'
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { bodyOf } from '../api.ts'
import { UsageError } from '../failures.ts'
import { examples, type Session, YES } from '../session.ts'

export function addErase(program: Command, session: Session): void {
  const erase = program
    .command('erase <owner> <recipient>')
    .description('erase a person from an app, or from all apps of a company')
    .option(...YES)
    .action(async (id: string, given: string, options: { yes?: true }) => {
      if (!/^(app|cmp)_/.test(id)) throw new UsageError('name an app (app_…) or a company (cmp_…)')
      const recipient = given === '-' ? (await text(process.stdin)).trim() : given
      await session.confirm(`Erase all traces of this recipient from ${id} for good?`, options)
      const request = { params: { path: { id } }, body: { recipient } }
      const api = session.api()
      const erasure = id.startsWith('app_')
        ? await bodyOf(api.POST('/admin/v1/apps/{id}/erase', request))
        : await bodyOf(api.POST('/admin/v1/companies/{id}/erase', request))
      session.showRecord(erasure)
    })
  examples(
    erase,
    'erase app_… +442079460156',
    'erase cmp_… - --yes < recipient    # keeps it out of the history of the shell',
  )
}

// A company and an app are renamed, closed, reopened and deleted alike.
import type { Command } from 'commander'
import { type Session, YES } from '../session.ts'

interface Calls {
  change(id: string, body: { name?: string; closed?: boolean }): Promise<object>
  remove(id: string): Promise<unknown>
}

export function addNameAndClosing(group: Command, noun: string, session: Session, { change, remove }: Calls): void {
  group
    .command(`rename <${noun}> <name>`)
    .description('give it another name')
    .action(async (id: string, name: string) => session.showRecord(await change(id, { name })))
  group
    .command(`close <${noun}>`)
    .description('refuse its keys; its data is kept until its retention ends')
    .option(...YES)
    .action(async (id: string, options: { yes?: true }) => {
      await session.confirm(`Refuse all keys of ${id}?`, options)
      session.showRecord(await change(id, { closed: true }))
    })
  group
    .command(`reopen <${noun}>`)
    .description('accept its keys again')
    .action(async (id: string) => session.showRecord(await change(id, { closed: false })))
  group
    .command(`delete <${noun}>`)
    .description('delete for good what was closed 30 days ago or earlier; the ledger and the audit log stay')
    .option(...YES)
    .action(async (id: string, options: { yes?: true }) => {
      await session.confirm(`Delete ${id} for good, with all that belongs to it?`, options)
      await remove(id)
      session.showDone(`${id} was deleted. What belongs to it goes within minutes.`)
    })
}

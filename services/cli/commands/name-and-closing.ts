// A company and an app are renamed, closed and reopened alike.
import type { Command } from 'commander'
import { type Session, YES } from '../session.ts'

type Change = (id: string, body: { name?: string; closed?: boolean }) => Promise<object>

export function addNameAndClosing(group: Command, noun: string, session: Session, change: Change): void {
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
}

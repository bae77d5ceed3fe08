// What every command works with: the connection, the kind of output, and questions to the person at the terminal.
import process from 'node:process'
import type { Command } from 'commander'
import { type Api, createApi } from './api.ts'
import { UsageError } from './failures.ts'
import { type Cell, jsonText, printLine, printNote, recordLines, tableLines } from './output.ts'
import { type Connection, DEFAULT_PROFILE, findConnection } from './profile.ts'

export interface Session {
  connection(): Connection
  api(): Api
  /** `--url`, if it was given. */
  url(): string | undefined
  profile(): string
  isJson(): boolean
  /** A list: a table, or JSON. */
  showList<T>(items: readonly T[], columns: Record<string, (item: T) => Cell>): void
  /** One thing: a member a line, or JSON. */
  showRecord(record: object): void
  /** That something was done, for people; the answer, for programs. */
  showDone(text: string, answer?: object): void
  /** Returns when the person agrees, or has agreed with --yes. */
  confirm(question: string, options: { yes?: true }): Promise<void>
}

export function createSession(program: Command): Session {
  const given = (): { url?: string; profile?: string; json?: true } => program.opts()
  const session: Session = {
    connection: () => findConnection(given()),
    api: () => createApi(session.connection()),
    url: () => given().url,
    profile: () => given().profile ?? DEFAULT_PROFILE,
    isJson: () => given().json === true,
    showList(items, columns) {
      if (session.isJson()) return printLine(jsonText(items))
      if (items.length === 0) return printNote('None.')
      for (const line of tableLines(items, columns)) printLine(line)
    },
    showRecord(record) {
      if (session.isJson()) return printLine(jsonText(record))
      for (const line of recordLines(record)) printLine(line)
    },
    showDone(text, answer = {}) {
      printLine(session.isJson() ? jsonText(answer) : text)
    },
    async confirm(question, { yes }) {
      if (yes) return
      if (!process.stdin.isTTY) throw new UsageError(`${question} Say so with --yes.`)
      const { confirm } = await import('@inquirer/prompts')
      const agreed = await confirm({ message: question, default: false }, { output: process.stderr })
      if (!agreed) throw new UsageError('nothing was changed')
    },
  }
  return session
}

/** For commands that take something away. */
export const YES = ['-y, --yes', 'do not ask'] as const

/** Shown below a command's help. */
export const examples = (command: Command, ...lines: string[]): Command =>
  command.addHelpText('after', `\nExamples:\n${lines.map(line => `  $ countersign ${line}`).join('\n')}`)

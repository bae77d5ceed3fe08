// Runs a JavaScript file or a command as a process of its own, for what only a process can show: kill -9, locks, exit codes, signals.
import { type ChildProcess, spawn } from 'node:child_process'
import process from 'node:process'
import { createInterface } from 'node:readline'

export interface Child {
  process: ChildProcess
  /** Lines of stdout so far. */
  lines: string[]
  stderr(): string
  /** Resolves with the first line, past or future, that satisfies; rejects when the process ends without one. */
  waitForLine(matches: (line: string) => boolean): Promise<string>
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

export const spawnChild = (
  file: string,
  env: Record<string, string> = {},
  args: string[] = [],
  flags: string[] = [],
): Child => spawnCommand(process.execPath, [...flags, file, ...args], env)

export function spawnCommand(command: string, args: string[], env: Record<string, string> = {}, cwd?: string): Child {
  const running = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  })
  const lines: string[] = []
  const waiting = new Set<(line: string) => void>()
  let stderr = ''
  running.stderr.setEncoding('utf8').on('data', text => {
    stderr += text
  })
  createInterface({ input: running.stdout }).on('line', line => {
    lines.push(line)
    for (const check of waiting) check(line)
  })
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>(resolve =>
    running.once('close', (code, signal) => resolve({ code, signal })),
  )
  const waitForLine = (matches: (line: string) => boolean): Promise<string> =>
    new Promise((resolve, reject) => {
      const earlier = lines.find(matches)
      if (earlier !== undefined) return resolve(earlier)
      const check = (text: string) => {
        if (!matches(text)) return
        waiting.delete(check)
        resolve(text)
      }
      waiting.add(check)
      void exited.then(end =>
        reject(new Error(`ended with ${end.code ?? end.signal} and no such line:\n${lines.join('\n')}\n${stderr}`)),
      )
    })
  return { process: running, lines, stderr: () => stderr, waitForLine, exited }
}

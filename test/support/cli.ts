// The command line as a process of its own, against a running Countersign. In: arguments. Out: its exit code and what it printed.
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'

export const CLI = join(PROJECT_ROOT, 'dist/services/cli/main.js')

export interface CliResult {
  code: number | null
  stdout: string
  stderr: string
  // biome-ignore lint/suspicious/noExplicitAny: parsed JSON of any shape
  json(): any
}

export interface RunCli {
  (args: string[], options?: { env?: Record<string, string>; stdin?: string }): Promise<CliResult>
  /** Where profiles are written. */
  config: string
}

/** Call it in a suite. Profiles are in a folder of the suite's own. */
export function useCli(env: () => Record<string, string>): RunCli {
  const run = (async (args, options = {}) => {
    const child = spawn(process.execPath, [CLI, ...args], {
      env: { ...process.env, XDG_CONFIG_HOME: run.config, ...env(), ...options.env },
      stdio: 'pipe',
    })
    child.stdin.end(options.stdin ?? '')
    const exited = new Promise<number | null>(resolve => child.once('close', resolve))
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exited])
    return { code, stdout, stderr, json: () => JSON.parse(stdout) }
  }) as RunCli
  before(async () => {
    run.config = await mkdtemp(join(tmpdir(), 'countersign-cli-'))
  })
  after(() => rm(run.config, { recursive: true, force: true }))
  return run
}

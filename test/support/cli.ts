// The command line with arguments, environment and streams of its own, against a running Countersign. In a thread, because a process
// takes twice as long. In: arguments. Out: its exit code and what it printed.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { Worker } from 'node:worker_threads'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'

export const CLI = join(PROJECT_ROOT, 'dist/services/cli/main.js')

export interface CliResult {
  code: number
  stdout: string
  stderr: string
  // biome-ignore lint/suspicious/noExplicitAny: parsed JSON of any shape
  json(): any
}

export interface RunCli {
  /** `stdin`: the command must read it, or its thread does not end. */
  (args: string[], options?: { env?: Record<string, string>; stdin?: string }): Promise<CliResult>
  /** Where profiles are written. */
  config: string
}

/** Call it in a suite. Profiles are in a folder of the suite's own. */
export function useCli(env: () => Record<string, string>): RunCli {
  const run = (async (args, options = {}) => {
    const command = new Worker(CLI, {
      argv: args,
      env: { ...process.env, XDG_CONFIG_HOME: run.config, ...env(), ...options.env },
      stdin: options.stdin !== undefined,
      stdout: true,
      stderr: true,
    })
    command.stdin?.end(options.stdin)
    const exited = new Promise<number>((resolve, reject) => command.once('exit', resolve).once('error', reject))
    const [stdout, stderr, code] = await Promise.all([text(command.stdout), text(command.stderr), exited])
    return { code, stdout, stderr, json: () => JSON.parse(stdout) }
  }) as RunCli
  before(async () => {
    run.config = await mkdtemp(join(tmpdir(), 'countersign-cli-'))
  })
  after(() => rm(run.config, { recursive: true, force: true }))
  return run
}

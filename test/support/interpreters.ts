// Runs programs in other languages, where this machine can. In: a command and its input. Out: what it printed.
import { execFile, execFileSync } from 'node:child_process'
import process from 'node:process'

export const hasCommand = (command: string, ...args: string[]): boolean => {
  try {
    execFileSync(command, args, { stdio: 'ignore', timeout: 30_000 })
    return true
  } catch {
    return false
  }
}

export interface Ran {
  /** Null when it was killed. */
  code: number | null
  output: string
}

interface RunOptions {
  cwd?: string
  env?: Record<string, string>
}

export const run = (command: string, args: readonly string[], { cwd, env = {} }: RunOptions = {}): Promise<Ran> =>
  new Promise(resolve => {
    const options = { ...(cwd === undefined ? {} : { cwd }), env: { ...process.env, ...env }, timeout: 240_000 }
    const child = execFile(command, args, options, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, output: `${stdout}${stderr}` }),
    )
  })

/** Throws with what was printed unless the command succeeds. */
export async function succeed(command: string, args: readonly string[], options?: RunOptions): Promise<string> {
  const { code, output } = await run(command, args, options)
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${code}:\n${output}`)
  return output
}

export const HAS_PYTHON = hasCommand('python3', '--version')
export const HAS_PYTHON_REQUESTS = hasCommand('python3', '-c', 'import requests')
export const HAS_GO = hasCommand('go', 'version')
export const HAS_PHP_CLI = hasCommand('php', '--version')
/** With what the samples of the reference need. */
export const HAS_PHP = hasCommand('php', '-r', 'exit(extension_loaded("curl") ? 0 : 1);')
/** Of `go build` and `go run`. On a machine that has never built Go programs, most of the time goes into compiling its
 *  library: without C, and neither optimized nor with symbols, it takes a third less. */
export const GO_BUILD = {
  flags: ['-gcflags=all=-N -l', '-ldflags=-s -w'],
  env: { GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod', CGO_ENABLED: '0' },
}
export const HAS_CURL = hasCommand('curl', '--version')
export const HAS_OPENSSL = hasCommand('openssl', 'version')

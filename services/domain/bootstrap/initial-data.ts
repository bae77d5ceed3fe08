// What a store holds before its first request. In: a store that answers. Out: the console and the companies of BOOTSTRAP_FILE are in it;
// without a file, an empty development store gets the demo. New keys and secrets are printed: the store keeps hashes and sealed texts, and
// the log would hide them. In production no key is made, so none is printed. In development the link that signs the operator in is printed
// too; in production log collectors would keep it.
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Config, Secrets } from '../../../infra/config/config.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Logger } from '../../../infra/log/log.ts'
import { StartProblem } from '../../../infra/start-problem.ts'
import { createGrants } from '../users/grants.ts'
import { createSignInTickets } from '../users/sign-in-tickets.ts'
import { renewUserStamps } from '../users/user-stamps.ts'
import { applyBootstrap, type Bootstrap, readBootstrap } from './bootstrap.ts'
import { ensureConsole } from './console.ts'
import { createDemo, type DemoAccess, type DemoKeys, demoGuide, signInGuide } from './demo.ts'
import type { BootstrapDeps } from './write-to-store.ts'

export interface InitialDataDeps extends Required<Omit<BootstrapDeps, 'minted' | 'mayMint' | 'keyring'>> {
  keyring: BootstrapDeps['keyring'] & Pick<Keyring, 'index' | 'indexes' | 'mac' | 'makerOf'>
  config: Pick<Config, 'production' | 'roles'>
  secrets: Pick<Secrets, 'adminTokens'>
  /** Null without BOOTSTRAP_FILE. */
  bootstrap: Bootstrap | null
  log: Pick<Logger, 'warn'>
  print(text: string): void
}

export interface InitialData {
  /** Is repeated while the store is unavailable. Every repetition prints the same keys. */
  write(): Promise<void>
  /** Prints the link to sign in with, and the commands to try the demo, if this process has made it. */
  printGuide(access: GuideAccess): void
}

/** `signInUrl`: the address of the sign-in page; null when another process serves it. */
export type GuideAccess = Omit<DemoAccess, 'signInLink'> & { signInUrl: string | null }

/** Reads and checks the file before anything is opened, so that a mistake in it ends the start at once. */
export async function readBootstrapFile({
  bootstrapFile,
  production,
}: Pick<Config, 'bootstrapFile' | 'production'>): Promise<Bootstrap | null> {
  if (bootstrapFile === null) return null
  const text = await readFile(bootstrapFile, 'utf8').catch(error => {
    throw new StartProblem(`BOOTSTRAP_FILE: cannot be read: ${error.message}`, { cause: error })
  })
  return readBootstrap(text, { production, readFile: path => readFileSync(path, 'utf8') })
}

export function createInitialData(deps: InitialDataDeps): InitialData {
  const { config, secrets, bootstrap, store, keyring, clock, inspect, log, print } = deps
  const mayMint = !config.production
  const bootstrapDeps = { store, keyring, clock, inspect, mayMint, minted: new Map<string, string>() }
  const wantsDemo = bootstrap === null && !config.production && config.roles.includes('edge')
  let demo: DemoKeys | null = null
  const operators = secrets.adminTokens
  const [operator] = operators
  const isDashboard = config.roles.includes('dashboard')
  const wantsTicket = !config.production && isDashboard
  const grants = createGrants({ keyring, log })
  let ticket: string | null = null

  async function apply(file: Bootstrap): Promise<void> {
    const { mintedKeys, mintedSecrets, warnings } = await applyBootstrap(file, bootstrapDeps)
    for (const warning of warnings) log.warn({ warning }, 'bootstrap.warned')
    for (const { id, key } of mintedKeys) print(`New key ${id}: ${key}\n`)
    for (const { app_id, secret } of mintedSecrets) print(`New webhook signing secret of ${app_id}: ${secret}\n`)
  }

  return {
    async write() {
      // First, so that the file cannot give the console's app to another company.
      await ensureConsole({ store, clock })
      if (bootstrap !== null) await apply(bootstrap)
      if (wantsDemo) demo ??= await createDemo(bootstrapDeps)
      if (isDashboard) await renewUserStamps({ store, grants, log })
      if (wantsTicket && operator)
        ticket ??= await createSignInTickets({ store, keyring, grants, clock, operators }).create(operator)
    },
    printGuide({ signInUrl, ...access }) {
      const signInLink = ticket === null || signInUrl === null ? null : `${signInUrl}?ticket=${ticket}`
      if (demo !== null) print(demoGuide(demo, { ...access, signInLink }))
      else if (signInLink !== null) print(signInGuide(signInLink))
    },
  }
}

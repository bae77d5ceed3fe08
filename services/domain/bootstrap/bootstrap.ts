// The bootstrap file: a deployment's companies, apps, prices and address lists as JSON, applied at every start.
//   readBootstrap    In: the text. Out: the completed file, or every problem by its path (file-schema.ts, file-rules.ts, complete-file.ts).
//   applyBootstrap   In: the completed file. Out: the store as the file says, or every conflict with the store (conflicts.ts,
//                    refused-addresses.ts, write-to-store.ts).
import { parseJson } from '../../../infra/json.ts'
import { StartProblem } from '../../../infra/start-problem.ts'
import { check, type InputProblem } from '../tenancy/problems.ts'
import { type Bootstrap, completeBootstrap } from './complete-file.ts'
import { findConflicts } from './conflicts.ts'
import { findDeleted, withoutDeleted } from './deleted.ts'
import { ruleProblems } from './file-rules.ts'
import { bootstrapSchema } from './file-schema.ts'
import { readKeyFiles } from './key-files.ts'
import { findRefusedAddresses } from './refused-addresses.ts'
import { findShortSecrets } from './short-secrets.ts'
import { type BootstrapDeps, type MintedSecrets, writeBootstrap } from './write-to-store.ts'

export type { Bootstrap }

/** The file cannot be applied. Nothing of it was written. */
export class BootstrapProblems extends StartProblem {
  override name = 'BootstrapProblems'
  readonly problems: readonly InputProblem[]

  constructor(problems: readonly InputProblem[]) {
    super(problems.map(({ path, message }) => `${path || 'BOOTSTRAP_FILE'}: ${message}`).join('\n'))
    this.problems = problems
  }
}

export interface ReadOptions {
  production?: boolean
  /** Reads a `key_file`. Throws where it cannot be read. */
  readFile?(path: string): string
}

/** In production a key that the file gives must be too long to guess. */
export function readBootstrap(text: string, { production = false, readFile = noFiles }: ReadOptions = {}): Bootstrap {
  const json = parseJson(text)
  if (!json.ok) throw new BootstrapProblems([{ path: '', message: json.message }])
  const fileProblems = readKeyFiles(json.value, readFile)
  if (fileProblems.length > 0) throw new BootstrapProblems(fileProblems)
  const file = check(bootstrapSchema, json.value)
  const brokenRules = ruleProblems(json.value, { production })
  if (file.ok && brokenRules.length === 0) return completeBootstrap(file.value)
  throw new BootstrapProblems([...(file.ok ? [] : file.problems), ...brokenRules])
}

const noFiles = (): string => {
  throw new Error('no files')
}

/** Idempotent. Throws `BootstrapProblems` before the first write if the file contradicts the store, or names a new address that the
 *  outbound guard would refuse to call. */
export async function applyBootstrap(
  file: Bootstrap,
  deps: BootstrapDeps,
): Promise<MintedSecrets & { warnings: InputProblem[] }> {
  const { store, keyring, inspect } = deps
  const deleted = await findDeleted(file, store)
  const { problems: conflicts, warnings } = await findConflicts(file, store, { mayMint: deps.mayMint ?? true, deleted })
  const problems = [
    ...conflicts,
    ...(await findShortSecrets(file, { store, keyring })),
    ...(inspect ? await findRefusedAddresses(file, { store, keyring, inspect }) : []),
  ]
  if (problems.length > 0) throw new BootstrapProblems(problems)
  return { ...(await writeBootstrap(withoutDeleted(file, deleted), deps)), warnings }
}

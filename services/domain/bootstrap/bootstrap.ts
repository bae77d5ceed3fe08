// The bootstrap file: a deployment's companies, apps and lists as text, applied at every start.
//   text → readBootstrap: every problem by its path, or the file → applyBootstrap: conflicts with the store, or the writes

import { parseJson } from '../../../infra/json.ts'
import { StartProblem } from '../../../infra/start-problem.ts'
import { check, type Problem } from '../tenancy/problems.ts'
import { findRefusedAddresses } from './addresses.ts'
import { type BootstrapDeps, type MintedSecrets, writeBootstrap } from './apply.ts'
import { findConflicts } from './conflicts.ts'
import { type Bootstrap, completeBootstrap } from './file.ts'
import { ruleProblems } from './rules.ts'
import { bootstrapSchema } from './schema.ts'

export type { Bootstrap }

/** The file cannot be applied, and nothing of it was. */
export class BootstrapProblems extends StartProblem {
  override name = 'BootstrapProblems'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ path, message }) => `${path || 'BOOTSTRAP_FILE'}: ${message}`).join('\n'))
    this.problems = problems
  }
}

export function readBootstrap(text: string): Bootstrap {
  const json = parseJson(text)
  if (!json.ok) throw new BootstrapProblems([{ path: '', message: json.message }])
  const file = check(bootstrapSchema, json.value)
  const broken = ruleProblems(json.value)
  if (file.ok && broken.length === 0) return completeBootstrap(file.value)
  throw new BootstrapProblems([...(file.ok ? [] : file.problems), ...broken])
}

/** Idempotent. Throws `BootstrapProblems`, before anything is written, where the file contradicts the store, or names an address that
 *  would not be called. */
export async function applyBootstrap(
  file: Bootstrap,
  deps: BootstrapDeps,
): Promise<MintedSecrets & { warnings: Problem[] }> {
  const { store, keyring, inspect } = deps
  const { problems: conflicts, warnings } = await findConflicts(file, store)
  const problems = [...conflicts, ...(inspect ? await findRefusedAddresses(file, { store, keyring, inspect }) : [])]
  if (problems.length > 0) throw new BootstrapProblems(problems)
  return { ...(await writeBootstrap(file, deps)), warnings }
}

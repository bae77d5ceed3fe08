// In: the bootstrap file as parsed JSON of any shape. Out: the same, where each key with a `key_file` has what is in
// that file as its `key`, the same of the secrets of hooks, and a problem for each file that cannot be used. So a file
// in git can name the secrets of Docker and Kubernetes.
import { isJsonObject } from '../../../infra/json-object.ts'
import { MODES } from '../../../machines/otp.ts'
import type { InputProblem } from '../tenancy/problems.ts'
import { type ObjectAtPath, objectsIn, wholeFile } from './objects-at-path.ts'

/** Changes `file`, which has just been parsed. */
export function readKeyFiles(file: unknown, readFile: (path: string) => string): InputProblem[] {
  const problems: InputProblem[] = []
  const readInto = (name: string, { value, path }: ObjectAtPath): void => {
    const file = value[`${name}_file`]
    if (typeof file !== 'string') return
    const content = value[name] === undefined ? contentOf(file, readFile) : `must not be given together with ${name}`
    if (typeof content === 'string') problems.push({ path: `${path}.${name}_file`, message: content })
    else value[name] = content.secret
  }
  for (const company of objectsIn(wholeFile(file), 'companies'))
    for (const app of objectsIn(company, 'apps')) {
      for (const key of objectsIn(app, 'keys')) readInto('key', key)
      const { hooks } = app.value
      const supabase = isJsonObject(hooks) ? hooks.supabase : undefined
      if (!isJsonObject(supabase)) continue
      for (const mode of MODES) readInto(mode, { value: supabase, path: `${app.path}.hooks.supabase` })
    }
  return problems
}

/** The message does not show the path: an operator may have written the secret itself there. */
function contentOf(path: string, readFile: (path: string) => string): string | { secret: string } {
  try {
    const secret = readFile(path).trim()
    return secret === '' ? 'names an empty file' : { secret }
  } catch {
    return 'names a file that cannot be read'
  }
}

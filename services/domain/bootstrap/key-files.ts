// In: the bootstrap file as parsed JSON of any shape. Out: the same, where each key with a `key_file` has what is in that file as its `key`,
// and a problem for each file that cannot be used. So a file in git can name the secrets of Docker and Kubernetes.
import { isJsonObject, type JsonObject } from '../../../infra/json-object.ts'
import type { InputProblem } from '../tenancy/problems.ts'

/** Changes `file`, which has just been parsed. */
export function readKeyFiles(file: unknown, readFile: (path: string) => string): { problems: InputProblem[] } {
  const problems: InputProblem[] = []
  for (const company of objectsIn(file, '', 'companies'))
    for (const app of objectsIn(company.value, company.path, 'apps'))
      for (const { value, path } of objectsIn(app.value, app.path, 'keys')) {
        const { key_file } = value
        if (typeof key_file !== 'string') continue
        const content = value.key === undefined ? contentOf(key_file, readFile) : 'must not be given together with key'
        if (typeof content === 'string') problems.push({ path: `${path}.key_file`, message: content })
        else value.key = content.key
      }
  return { problems }
}

/** The message does not show the path: an operator may have written the key itself there. */
function contentOf(path: string, readFile: (path: string) => string): string | { key: string } {
  try {
    const key = readFile(path).trim()
    return key === '' ? 'names an empty file' : { key }
  } catch {
    return 'names a file that cannot be read'
  }
}

function objectsIn(holder: unknown, path: string, name: string): { path: string; value: JsonObject }[] {
  const members = isJsonObject(holder) ? holder[name] : undefined
  if (!Array.isArray(members)) return []
  return members.flatMap((value: unknown, at) =>
    isJsonObject(value) ? [{ path: path === '' ? `${name}.${at}` : `${path}.${name}.${at}`, value }] : [],
  )
}

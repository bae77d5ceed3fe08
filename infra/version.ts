// The version of this program, as package.json says it. The file is above this one, at another distance in the sources than in dist/.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const VERSION = findVersion(import.meta.dirname)

function findVersion(folder: string): string {
  const version = readVersion(join(folder, 'package.json'))
  if (version !== null) return version
  if (dirname(folder) === folder) throw new Error('package.json is missing')
  return findVersion(dirname(folder))
}

/** Null when there is no such file. */
function readVersion(path: string): string | null {
  try {
    return String(JSON.parse(readFileSync(path, 'utf8')).version)
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return null
    throw error
  }
}

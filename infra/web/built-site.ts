// A built site in memory. In: its name. Out: its files by path, each with its compressed twins, ready to be served. Every file is read
// at the start: a path that is no file of the site cannot be asked for, so no request touches the disk.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join, relative } from 'node:path'

/** The folder of package.json. The sources and the compiled files are at different depths below it. */
export const PROJECT_ROOT = findProjectRoot(import.meta.dirname)

function findProjectRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : findProjectRoot(dirname(folder))
}

export const builtSiteFolder = (site: string): string => join(PROJECT_ROOT, 'dist/web', site)

/** A file that a finished build leaves. */
export const BUILT_MARK = '.built'

export interface SiteFile {
  type: string
  etag: string
  plain: Buffer
  gzip: Buffer | null
  brotli: Buffer | null
}

/** The files of a site by path, such as `/index.html`; null when the site is not built. */
export type BuiltSite = ReadonlyMap<string, SiteFile>

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
}

const sites = new Map<string, BuiltSite>()

/** Reads a site once in the life of a process. */
export function readBuiltSite(site: string): BuiltSite | null {
  const built = sites.get(site) ?? readFiles(site)
  if (built) sites.set(site, built)
  return built
}

function readFiles(site: string): BuiltSite | null {
  const folder = builtSiteFolder(site)
  if (!existsSync(join(folder, BUILT_MARK))) return null
  const readOrNull = (file: string): Buffer | null => (existsSync(file) ? readFileSync(file) : null)
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && TYPES[extname(entry.name)] !== undefined)
    .map(entry => join(entry.parentPath, entry.name))
  return new Map(
    files.map(file => {
      const plain = readFileSync(file)
      // Weak, because the compressed twins have it too.
      const etag = `W/"${createHash('sha256').update(plain).digest('base64url')}"`
      const type = TYPES[extname(file)] ?? ''
      const path = `/${relative(folder, file)}`
      return [path, { type, etag, plain, gzip: readOrNull(`${file}.gz`), brotli: readOrNull(`${file}.br`) }]
    }),
  )
}

// Where the command line finds the service. In: options, the environment, and the profile that `countersign login` wrote. Out: an address
// and a token.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { ensurePrivateFile, ensurePrivateFolder } from '../../infra/private-files.ts'
import { UsageError } from './failures.ts'

export interface Connection {
  url: string
  token: string
}

/** Where `npm start` listens. */
export const DEFAULT_URL = 'http://127.0.0.1:3000'

export const DEFAULT_PROFILE = 'default'

export function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(`${text} is not an address such as https://verify.example.com`)
  return url.href
}

/** Whether a token that is sent there stays unread on the way. The whole host is compared: `127.evil.example` begins
 *  like a local address. */
export function isLocalOrHttps(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

/** The address without a slash at its end. */
export const parseBaseUrl = (text: string): string => parseUrl(text).replace(/\/+$/, '')

function profilePath(name: string): string {
  if (!/^[\w-]+$/.test(name)) throw new UsageError('the name of a profile has letters, digits, "-" and "_" only')
  const config = process.env.XDG_CONFIG_HOME || join(homedir(), '.config')
  return join(config, 'countersign', `${name}.json`)
}

/** Null without one. */
function readProfile(name: string): Connection | null {
  const path = profilePath(name)
  try {
    const { url, token } = JSON.parse(readFileSync(path, 'utf8'))
    return { url: parseBaseUrl(String(url)), token: String(token) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new UsageError(`${path} cannot be read: run countersign login again`)
  }
}

/** Returns the path of the file, which only its owner may read. */
export function writeProfile(name: string, connection: Connection): string {
  const path = profilePath(name)
  ensurePrivateFolder(dirname(path))
  ensurePrivateFile(path)
  writeFileSync(path, `${JSON.stringify(connection, null, 2)}\n`)
  return path
}

export function removeProfile(name: string): void {
  rmSync(profilePath(name), { force: true })
}

/** A token belongs to the address it was given for: that of a profile is never sent elsewhere. The environment holds where no profile is
 *  named. */
export function findConnection(given: { url?: string | undefined; profile?: string | undefined }): Connection {
  const profile = readProfile(given.profile ?? DEFAULT_PROFILE)
  const { COUNTERSIGN_URL, COUNTERSIGN_TOKEN } = given.profile === undefined ? process.env : {}
  const named = given.url ?? (COUNTERSIGN_URL || undefined)
  const url = named === undefined ? (profile?.url ?? DEFAULT_URL) : parseBaseUrl(named)
  const token = COUNTERSIGN_TOKEN || (profile?.url === url ? profile.token : undefined)
  if (token !== undefined) return { url, token }
  throw new UsageError(
    given.profile === undefined
      ? `no token for ${url}: run countersign login, or set COUNTERSIGN_URL and COUNTERSIGN_TOKEN`
      : `the profile ${given.profile} has no token for ${url}: run countersign login --profile ${given.profile}`,
  )
}

// The kinds of value a variable can hold. In: its text. Out: the value, or problems that say what would be right.

import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { DAY_MS } from '../time.ts'

const MAX_PORT = 65_535

type AddProblem = (message: string) => void

/** `read` turns the text into a value. The value is not used if `read` has added a problem. */
export const fromText = <T>(read: (text: string, addProblem: AddProblem) => T) =>
  z.string().transform((text, context) => read(text, message => context.addIssue(message)))

export const wholeNumber = (min: number, max: number) =>
  fromText((text, addProblem) => parseWholeNumberIn(min, max, text, addProblem))

export const port = () => wholeNumber(0, MAX_PORT)

/** A port, or `off`. */
export const portOrOff = () =>
  fromText((text, addProblem) =>
    text === 'off' ? null : parseWholeNumberIn(0, MAX_PORT, text, message => addProblem(`${message}, or off`)),
  )

export const oneOf = <const T extends string>(names: readonly T[]) =>
  z.enum(names, { error: `must be ${names.length > 1 ? 'one of ' : ''}${names.join(', ')}` })

const MAX_DELAY_MS = 7 * DAY_MS
const MAX_DELAYS = 20

/** Delays in milliseconds, in the order of the attempts. They need not grow: the last ones are often equal. */
export const delays = () =>
  fromText((text, addProblem): readonly number[] => {
    const waits = text.split(',').map(part => parseWholeNumber(part.trim()))
    if (waits.length > MAX_DELAYS) addProblem(`must be at most ${MAX_DELAYS} delays, not ${waits.length}`)
    if (!waits.every(wait => wait >= 1 && wait <= MAX_DELAY_MS))
      addProblem(
        `must be delays in milliseconds, comma-separated, each a whole number from 1 to ${MAX_DELAY_MS} (7 days)`,
      )
    return waits
  })

/** Address ranges as `address/bits`. An address without bits is a range of one. */
export const cidrs = () => fromText(parseCidrs)

/** Where private addresses may be called: `1` everywhere, `0` nowhere, or in the given ranges. */
export const privateTargets = () =>
  fromText((text, addProblem): 'all' | readonly string[] =>
    text === '1'
      ? 'all'
      : text === '0'
        ? []
        : parseCidrs(text, message =>
            addProblem(`must be 1 for everywhere, 0 for nowhere, or address ranges: ${message}`),
          ),
  )

/** The address at which clients reach this deployment, without a trailing slash, so that a path can follow. */
export const publicUrl = () =>
  fromText((text, addProblem) => {
    const url = URL.canParse(text) ? new URL(text) : null
    if (!url || !/^https?:\/\//i.test(text)) addProblem('must be an http:// or https:// URL')
    else if (url.username || url.password) addProblem('must not hold a user name or password')
    else if (/[?#]/.test(text)) addProblem('must end with its path: no query, no fragment')
    return url ? `${url.origin}${url.pathname}`.replace(/\/+$/, '') : ''
  })

/** Checks the scheme, the hosts with their ports, and the percent escapes: with a mistake there, a driver fails later or retries for ever.
 *  It is not parsed as a URL, because a list of MongoDB hosts is not valid in one. No message repeats the text: it may hold a password. */
export const engineUrl = (...schemes: string[]) =>
  fromText((text, addProblem) => {
    const problem = engineUrlProblem(text, schemes)
    if (problem) addProblem(problem)
    return text
  })

/** The URLs of an engine's nodes, comma-separated. Of several, a problem names the position, and says what may have
 *  split one URL in two. */
export const engineUrls = (...schemes: string[]) =>
  fromText((text, addProblem): readonly string[] => {
    const urls = splitUrls(text)
    for (const [index, url] of urls.entries()) {
      const problem = engineUrlProblem(url, schemes) ?? (URL.canParse(url) ? null : 'is not a URL')
      if (problem)
        addProblem(urls.length === 1 ? problem : `URL ${index + 1} of ${urls.length} ${problem} (${ESCAPE_COMMA})`)
    }
    return urls
  })

const ESCAPE_COMMA = 'a comma separates URLs: in a password it is written %2C'

export const splitUrls = (text: string): string[] => text.split(',').map(url => url.trim())

function engineUrlProblem(text: string, schemes: readonly string[]): string | null {
  const scheme = schemes.find(name => text.startsWith(`${name}://`))
  const [, hosts] = /^(?:[^@/?#]*@)?([^@/?#\s]+)(?:[/?#]\S*)?$/.exec(text.slice((scheme?.length ?? 0) + 3)) ?? []
  if (!scheme) return `must begin with ${schemes.map(name => `${name}://`).join(' or ')}`
  if (hosts === undefined)
    return 'must name a host after its scheme; @, / and ? in a password are written %40, %2F and %3F'
  if (!isEscaped(text)) return 'has a % that escapes nothing: in a password it is written %25'
  return hosts.split(',').every(isHostWithPort) ? null : 'must give a port, if any, from 1 to 65535'
}

const isHostWithPort = (text: string): boolean => {
  const [, port] = /^(?:\[[^\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text) ?? [null, '0']
  return port === undefined || (Number(port) >= 1 && Number(port) <= MAX_PORT)
}

function isEscaped(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** A host name or an IP address, IPv6 without brackets, as Node's `listen` accepts it. */
export const host = () =>
  fromText((text, addProblem) => {
    if (!isIP(text) && !/^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/.test(text))
      addProblem('must be a host name or an IP address')
    return text
  })

function parseWholeNumberIn(min: number, max: number, text: string, addProblem: AddProblem): number {
  const number = parseWholeNumber(text)
  if (!(number >= min && number <= max)) addProblem(`must be a whole number from ${min} to ${max}`)
  return number
}

const parseWholeNumber = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN)

function parseCidrs(text: string, addProblem: AddProblem): readonly string[] {
  return text.split(',').map(part => {
    const [address = '', bits, ...more] = part.trim().split('/')
    const maxBits = isIP(address) === 6 ? 128 : 32
    const width = bits === undefined ? maxBits : parseWholeNumber(bits)
    if (!isIP(address) || more.length > 0 || !(width <= maxBits))
      addProblem(`"${part.trim()}" is not an address range such as 10.0.0.0/8`)
    // An IPv4-mapped address is compared as IPv4, so a range of them would never match.
    else if (maxBits === 128 && ipaddr.IPv6.parse(address).isIPv4MappedAddress())
      addProblem(`"${part.trim()}" must be written as an IPv4 range`)
    return `${address}/${width}`
  })
}

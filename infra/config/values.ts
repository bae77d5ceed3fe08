// The kinds of value a variable can hold: text in, a checked value out, or complaints that say what would be right.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'

const HIGHEST_PORT = 65_535

type Complain = (message: string) => void

/** A text that `read` turns into a value. Whatever `read` answers after a complaint is thrown away. */
export const value = <T>(read: (text: string, complain: Complain) => T) =>
  z.string().transform((text, context) => read(text, message => context.addIssue(message)))

export const whole = (min: number, max: number) => value((text, complain) => wholeIn(min, max, text, complain))

export const port = () => whole(0, HIGHEST_PORT)

/** A port, or `off`. */
export const portOrOff = () =>
  value((text, complain) =>
    text === 'off' ? null : wholeIn(0, HIGHEST_PORT, text, message => complain(`${message}, or off`)),
  )

export const oneOf = <const T extends string>(names: readonly T[]) =>
  z.enum(names, { error: `must be ${names.length > 1 ? 'one of ' : ''}${names.join(', ')}` })

const LONGEST_DELAY = 7 * 24 * 60 * 60 * 1000
const MOST_DELAYS = 20

/** Waits in milliseconds, in the order they are taken. They may repeat and fall: the last rungs of a ladder are often equal. */
export const delays = () =>
  value((text, complain): readonly number[] => {
    const waits = text.split(',').map(part => wholeOf(part.trim()))
    if (waits.length > MOST_DELAYS) complain(`must be at most ${MOST_DELAYS} delays, not ${waits.length}`)
    if (!waits.every(wait => wait >= 1 && wait <= LONGEST_DELAY))
      complain(
        `must be delays in milliseconds, comma-separated, each a whole number from 1 to ${LONGEST_DELAY} (7 days)`,
      )
    return waits
  })

/** Address ranges as `address/bits`; a bare address is a range of one. */
export const cidrs = () => value(cidrsOf)

/** Where private addresses may be called: everywhere, nowhere, or in these ranges. */
export const privateTargets = () =>
  value((text, complain): 'all' | readonly string[] =>
    text === '1' ? 'all' : text === '0' ? [] : cidrsOf(text, message => complain(`must be 1 or CIDRs: ${message}`)),
  )

/** The address people reach us at. No trailing slash, so that a path can be put after it. */
export const publicUrl = () =>
  value((text, complain) => {
    const url = URL.canParse(text) ? new URL(text) : null
    if (!url || !/^https?:\/\//i.test(text)) complain('must be an http:// or https:// URL')
    else if (url.username || url.password) complain('must not hold a user name or password')
    else if (/[?#]/.test(text)) complain('must end with its path: no query, no fragment')
    return url ? `${url.origin}${url.pathname}`.replace(/\/+$/, '') : ''
  })

/** Its scheme, that hosts with ports follow, and that what is escaped can be read: what a driver would refuse later, or for ever.
 *  Not parsed as a URL, as a list of MongoDB hosts is none by the book. The text may hold a password, so none of it is repeated. */
export const engineUrl = (...schemes: string[]) =>
  value((text, complain) => {
    const scheme = schemes.find(name => text.startsWith(`${name}://`))
    const [, hosts] = /^(?:[^@/?#]*@)?([^@/?#\s]+)(?:[/?#]\S*)?$/.exec(text.slice((scheme?.length ?? 0) + 3)) ?? []
    if (!scheme) complain(`must begin with ${schemes.map(name => `${name}://`).join(' or ')}`)
    else if (hosts === undefined)
      complain('must name a host after its scheme; @, / and ? in a password are written %40, %2F and %3F')
    else if (!isEscaped(text)) complain('has a % that escapes nothing: in a password it is written %25')
    else if (!hosts.split(',').every(isHostWithPort)) complain('must give a port, if any, from 1 to 65535')
    return text
  })

const isHostWithPort = (text: string): boolean => {
  const [, port] = /^(?:\[[^\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text) ?? [null, '0']
  return port === undefined || (Number(port) >= 1 && Number(port) <= HIGHEST_PORT)
}

function isEscaped(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** What `listen` takes: a name or an address, an IPv6 one without brackets. */
export const host = () =>
  value((text, complain) => {
    if (!isIP(text) && !/^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/.test(text))
      complain('must be a host name or an IP address')
    return text
  })

function wholeIn(min: number, max: number, text: string, complain: Complain): number {
  const number = wholeOf(text)
  if (!(number >= min && number <= max)) complain(`must be a whole number from ${min} to ${max}`)
  return number
}

const wholeOf = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN)

function cidrsOf(text: string, complain: Complain): readonly string[] {
  return text.split(',').map(part => {
    const [address = '', bits, ...more] = part.trim().split('/')
    const widest = isIP(address) === 6 ? 128 : 32
    const width = bits === undefined ? widest : wholeOf(bits)
    if (!isIP(address) || more.length > 0 || !(width <= widest))
      complain(`"${part.trim()}" is not an address range such as 10.0.0.0/8`)
    // Callers' addresses are unwrapped before they are compared, so this range would silently match nothing.
    else if (widest === 128 && ipaddr.IPv6.parse(address).isIPv4MappedAddress())
      complain(`"${part.trim()}" must be written as an IPv4 range`)
    return `${address}/${width}`
  })
}

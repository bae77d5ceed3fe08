// Mail addresses as servers and vendors take them. Not every one accepts a domain in other letters than ASCII, so domains are in ASCII.
import { Buffer } from 'node:buffer'
import { domainToASCII } from 'node:url'

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

export function toAscii(address: string): string {
  const domain = domainOf(address)
  return address.slice(0, address.length - domain.length) + (domainToASCII(domain) || domain)
}

/** `Acme <otp@acme.example>`, or the address alone. */
export function senderOf(from: string): { name: string; address: string } {
  const [, name = '', address = from] = /^([^<>]*)<([^<>]+)>$/.exec(from) ?? []
  return { name: name.trim().replace(/^"(.*)"$/, '$1'), address: toAscii(address) }
}

/** A sender with its name in quotes: vendors take a comma or a dot outside of them for the end of the name. */
export function quotedSender(from: string, quote = quoted): string {
  const { name, address } = senderOf(from)
  return name === '' ? address : `${quote(name)} <${address}>`
}

/** The same in ASCII alone: a name in other letters becomes encoded words (RFC 2047). */
export const asciiSender = (from: string): string =>
  quotedSender(from, name => (/^[ -~]*$/.test(name) ? quoted(name) : encodedWords(name)))

const quoted = (name: string): string => `"${name.replace(/["\\]/g, '\\$&')}"`

/** An encoded word has at most 75 characters: these bytes in base64, and what stands around them. */
const MAX_WORD_BYTES = 45

function encodedWords(name: string): string {
  const words = ['']
  for (const letter of name) {
    const longer = `${words.at(-1)}${letter}`
    if (Buffer.byteLength(longer) > MAX_WORD_BYTES) words.push(letter)
    else words[words.length - 1] = longer
  }
  return words.map(word => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join(' ')
}

// A message as the bytes of a mail. In: what to say and to whom. Out: an envelope and a MIME message with a text and an HTML part,
// DKIM-signed where the app has a key. Composing is nodemailer's; it breaks no line that a header would be injected by.
import type { Buffer } from 'node:buffer'
import { createPrivateKey } from 'node:crypto'
import { domainToASCII } from 'node:url'
import { createTransport } from 'nodemailer'
import type { ProviderConfigs } from '../../domain/tenancy/providers.ts'
import { ProviderFault, type RenderedMessage } from '../provider.ts'

type Config = ProviderConfigs['smtp']

export interface Mail {
  /** Without its brackets. */
  id: string
  from: string
  to: string
  bytes: Buffer
}

export type Compose = (message: RenderedMessage, at: number) => Promise<Mail>

export function createCompose({ from, dkim }: Pick<Config, 'from' | 'dkim'>): Compose {
  const sender = senderOf(from)
  const composer = createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'windows',
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(dkim === null
      ? {}
      : { dkim: { domainName: dkim.domain, keySelector: dkim.selector, privateKey: dkim.private_key } }),
  })
  const isSignable = dkim === null || isSigningKey(dkim.private_key)

  return async ({ recipient, subject, text, html, job }, at) => {
    // Nodemailer would send it unsigned, and the recipient's server would throw it away.
    if (!isSignable) throw new ProviderFault('its DKIM key is no RSA key in PEM')
    const to = toAscii(recipient)
    const id = `${job.delivery.delivery_id}@${domainOf(sender.address)}`
    const { message } = await composer.sendMail({
      from: sender,
      to: { name: '', address: to },
      envelope: { from: sender.address, to: [to] },
      messageId: `<${id}>`,
      date: new Date(at),
      subject: subject ?? '',
      text,
      ...(html === null ? {} : { html }),
      // Tells vacation notices and mailing lists not to answer.
      headers: { 'Auto-Submitted': 'auto-generated' },
      xMailer: false,
    })
    return { id, from: sender.address, to, bytes: message as Buffer }
  }
}

/** `Acme <otp@acme.example>`, or the address alone. */
function senderOf(from: string): { name: string; address: string } {
  const [, name = '', address = from] = /^([^<>]*)<([^<>]+)>$/.exec(from) ?? []
  return { name: name.trim().replace(/^"(.*)"$/, '$1'), address: toAscii(address) }
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

/** Domains of any script go over the wire in ASCII, which every server takes. */
function toAscii(address: string): string {
  const domain = domainOf(address)
  return address.slice(0, address.length - domain.length) + (domainToASCII(domain) || domain)
}

function isSigningKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}

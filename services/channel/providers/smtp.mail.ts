// Composes a mail. In: a rendered message. Out: an envelope and a MIME message with a text and an HTML part, signed
// with DKIM if the app has a key. nodemailer composes it, and keeps line breaks in names or subjects from becoming
// headers.
import type { Buffer } from 'node:buffer'
import { createPrivateKey } from 'node:crypto'
import { createTransport } from 'nodemailer'
import type { ProviderConfigs } from '../../domain/tenancy/provider-types/list.ts'
import { ProviderFault, type RenderedMessage } from '../provider.ts'
import { domainOf, senderOf, toAscii } from './mail-address.ts'

type Config = ProviderConfigs['smtp']

export interface Mail {
  /** The Message-ID without its angle brackets. */
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

  return async ({ recipient, subject, text, html, delivery_id }, at) => {
    // nodemailer would send the mail unsigned, and the recipient's server would probably reject it.
    if (!isSignable) throw new ProviderFault('its DKIM key is no RSA key in PEM')
    const to = toAscii(recipient)
    const id = `${delivery_id}@${domainOf(sender.address)}`
    const { message } = await composer.sendMail({
      from: sender,
      to: { name: '', address: to },
      envelope: { from: sender.address, to: [to] },
      messageId: `<${id}>`,
      date: new Date(at),
      subject: subject ?? '',
      text,
      ...(html === null ? {} : { html }),
      // Keeps vacation responders and mailing lists from answering.
      headers: { 'Auto-Submitted': 'auto-generated' },
      xMailer: false,
    })
    return { id, from: sender.address, to, bytes: message as Buffer }
  }
}

function isSigningKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}

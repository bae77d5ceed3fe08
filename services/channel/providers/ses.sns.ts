// Takes the messages of an SNS topic. In: a callback that anyone may have sent. Out: its text, once Amazon's signature
// was checked. The certificate of the signature is fetched from SNS in the region of the topic, and from no other
// address that a callback may name, and is kept.
import { Buffer } from 'node:buffer'
import { verify, X509Certificate } from 'node:crypto'
import { z } from 'zod'
import { type BoundedMap, createBoundedMap } from '../../../infra/bounded-map.ts'
import type { Outbound } from '../../../infra/outbound/outbound.ts'
import { HOUR_MS } from '../../../infra/time.ts'
import { BadSignature } from '../provider.ts'
import { parseJson } from './vendor-http.ts'

const line = z.string().max(4_000)

const ENVELOPE = z.object({
  Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
  MessageId: line,
  TopicArn: line,
  Subject: line.nullish(),
  Message: z.string(),
  Timestamp: line,
  SignatureVersion: z.enum(['1', '2']),
  Signature: line,
  SigningCertURL: line,
  SubscribeURL: line.optional(),
  Token: line.optional(),
})
type Envelope = z.infer<typeof ENVELOPE>

/** SNS tries a callback again for up to an hour, with its first time. A replay repeats a receipt, which changes nothing. */
const MAX_AGE_MS = HOUR_MS
/** A region has one certificate, and a new one now and then. */
const MAX_CERTIFICATES = 100
const MAX_ANSWER_BYTES = 16_384
const FETCH_MS = 5_000

/** By the process's way out, because providers are built anew every few seconds. */
const certificatesBy = new WeakMap<object, BoundedMap<X509Certificate>>()

export function createTopic(topic_arn: string, outbound: Pick<Outbound, 'request'>) {
  const [, partition = '', , region = ''] = topic_arn.split(':')
  const origin = `https://sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}`
  const certificates = certificatesBy.get(outbound) ?? createBoundedMap<X509Certificate>(MAX_CERTIFICATES)
  certificatesBy.set(outbound, certificates)

  const get = (url: string, maxBytes: number) =>
    outbound.request({ method: 'GET', url, headers: {}, signal: AbortSignal.timeout(FETCH_MS), maxBytes })

  /** The envelope of a callback of this topic; null for any other. */
  function envelopeOf(body: Uint8Array, now: number): Envelope | null {
    const { data } = ENVELOPE.safeParse(parseJson(body))
    if (data?.TopicArn !== topic_arn || !isCertificateOf(origin, data.SigningCertURL)) return null
    return Math.abs(now - Date.parse(data.Timestamp)) <= MAX_AGE_MS ? data : null
  }

  function isSigned(envelope: Envelope, now: number): boolean {
    const certificate = certificates.get(envelope.SigningCertURL)
    if (!certificate || Date.parse(certificate.validTo) < now || Date.parse(certificate.validFrom) > now) return false
    const algorithm = envelope.SignatureVersion === '1' ? 'sha1' : 'sha256'
    const signature = Buffer.from(envelope.Signature, 'base64')
    return verify(algorithm, Buffer.from(signedText(envelope)), certificate.publicKey, signature)
  }

  return {
    /** Fetches the certificate that the check needs, and confirms our own subscription. */
    async prepare(body: Uint8Array, now: number): Promise<void> {
      const envelope = envelopeOf(body, now)
      if (!envelope) return
      const { SigningCertURL: url, SubscribeURL: confirm = '' } = envelope
      if (!certificates.get(url)) {
        const { status, body: pem } = await get(url, MAX_ANSWER_BYTES)
        // SNS repeats a callback after 503, but not after 401.
        if (status >= 500) throw new Error('SNS did not answer with its certificate')
        if (status !== 200) return
        certificates.set(url, new X509Certificate(pem))
      }
      if (envelope.Type !== 'SubscriptionConfirmation' || !isSigned(envelope, now)) return
      const isOurs = URL.canParse(confirm) && new URL(confirm).origin === origin
      if (isOurs && (await get(confirm, MAX_ANSWER_BYTES)).status !== 200)
        throw new Error('SNS did not confirm the subscription')
    },

    /** The text of a notification; null for a signed message that holds none. */
    messageOf(body: Uint8Array, now: number): string | null {
      const envelope = envelopeOf(body, now)
      if (!envelope || !isSigned(envelope, now)) throw new BadSignature()
      return envelope.Type === 'Notification' ? envelope.Message : null
    },
  }
}

const isCertificateOf = (origin: string, url: string): boolean =>
  url.startsWith(`${origin}/`) && /^\/SimpleNotificationService-[0-9a-f]{1,64}\.pem$/.test(url.slice(origin.length))

/** Names and values, each on a line of its own, in the order of names. */
function signedText(envelope: Envelope): string {
  const names =
    envelope.Type === 'Notification'
      ? (['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'] as const)
      : (['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'] as const)
  return names.flatMap(name => (envelope[name] == null ? [] : [`${name}\n${envelope[name]}\n`])).join('')
}

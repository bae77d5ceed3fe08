// What a send says of its texts. In: the call, and the settings of its app. Out: a refusal for a hash or a domain that
// the app does not list; or the call, with the domain of the page that sends.
import type { Refusal } from '../../../machines/calls.ts'
import type { SmsSettings } from '../../../machines/settings.ts'
import { refusal } from '../refusals.ts'
import type { SendCall } from './send.ts'

interface Listed {
  channels: { sms: Pick<SmsSettings, 'domains' | 'android_hashes'> }
}

/** Null where the app lists what the call names. */
export function unlistedText({ text = {} }: SendCall, { channels: { sms } }: Listed): Refusal | null {
  const { app_hash, domain } = text
  const errors: NonNullable<Refusal['errors']> = []
  if (app_hash !== undefined && !sms.android_hashes.includes(app_hash))
    errors.push({ path: 'app_hash', message: 'must be one of the Android hashes of the app' })
  if (domain !== undefined && !sms.domains.includes(domain))
    errors.push({ path: 'domain', message: 'must be one of the domains of the app' })
  const detail = errors.map(({ path, message }) => `${path} ${message}`).join('; ')
  return errors.length === 0 ? null : refusal('ValidationError', `${detail}.`, { errors })
}

/** Browsers fill in a code that is bound to the domain of their page, or to one above it. */
export function withDomainOfPage(call: SendCall, { channels: { sms } }: Listed): SendCall {
  const { origin_host: host, text } = call
  if (host === undefined || text?.domain !== undefined) return call
  const domain = sms.domains.find(one => host === one || host.endsWith(`.${one}`))
  return domain === undefined ? call : { ...call, text: { ...text, domain } }
}

// What each sealed text is bound to, so that one that is moved to another document, field or message does not open.

/** At rest, in the document of a verification. */
export const atRest = {
  recipient: (otp_id: string): string => `otp:${otp_id}:recipient`,
  clientIp: (otp_id: string): string => `otp:${otp_id}:client_ip`,
  salt: (otp_id: string): string => `otp:${otp_id}:salt`,
  link: (otp_id: string): string => `otp:${otp_id}:link`,
}

/** In flight, between the edge and the actor. */
export const inFlight = {
  recipient: 'call:recipient',
  clientIp: 'call:client_ip',
  code: 'call:code',
  token: 'call:token',
  from: 'report:from',
}

/** What a recipient is counted and found by. Hardly any mail server tells `Ada@` from `ada@`: spelled in as many ways as it has
 *  letters, one mailbox would otherwise have as many limits. */
export const recipientKey = (recipient: string): string => recipient.toLowerCase()

/** Recipients are looked up per app and mode: the two modes never meet. */
export const recipientScope = (app_id: string, mode: string): string => `recipient:${app_id}:${mode}`
export const addressScope = (app_id: string, mode: string): string => `client_ip:${app_id}:${mode}`

/** A scope over all apps: a user's WhatsApp message names a reference and nothing else. */
const REFERENCE_SCOPE = 'whatsapp reference'
export const referenceIndex = (keyring: { index(scope: string, value: string): string }, reference: string): string =>
  keyring.index(REFERENCE_SCOPE, reference.toUpperCase())
/** Under every key: a link outlives the change of a key. */
export const referenceIndexes = (
  keyring: { indexes(scope: string, value: string): string[] },
  reference: string,
): string[] => keyring.indexes(REFERENCE_SCOPE, reference.toUpperCase())

/** Over all apps as well: the sandbox inbox is searched by recipient alone. */
const SANDBOX_SCOPE = 'sandbox recipient'
export const sandboxIndex = (keyring: { index(scope: string, value: string): string }, recipient: string): string =>
  keyring.index(SANDBOX_SCOPE, recipientKey(recipient))
export const sandboxIndexes = (
  keyring: { indexes(scope: string, value: string): string[] },
  recipient: string,
): string[] => keyring.indexes(SANDBOX_SCOPE, recipientKey(recipient))

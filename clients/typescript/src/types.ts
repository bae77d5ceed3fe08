// What goes over the wire, under the names of the OpenAPI document, from which these types are generated.
import type { Schemas } from './schema.ts'

export type Channel = Schemas['Channel']
export type SendRequest = Schemas['SendRequest']
export type ResendRequest = Schemas['ResendRequest']
export type VerifyRequest = Schemas['VerifyRequest']
export type CancelRequest = Schemas['CancelRequest']
export type ExchangeRequest = Schemas['ExchangeRequest']
export type Verification = Schemas['Verification']
export type VerificationDetails = Schemas['VerificationDetails']
export type Delivery = Schemas['Delivery']
export type VerifyResult = Schemas['VerifyResult']
export type ExchangeResult = Schemas['ExchangeResult']
export type Challenge = Schemas['Challenge']
export type PowChallenge = Schemas['PowChallenge']
export type WidgetChallenge = Schemas['WidgetChallenge']
export type Problem = Schemas['Problem']
/** Those of the client API: the admin API has one more. */
export type ErrorType = Exclude<Schemas['ErrorType'], 'StepUpRequiredError' | 'IdempotencyConflictError'>

/** What a webhook endpoint receives. Later versions may send types that are not listed here. */
export type WebhookEvent = {
  [Name in keyof Schemas]: Name extends `${string}Event` ? Schemas[Name] : never
}[keyof Schemas]

/** A code that was made elsewhere, to be delivered. */
export type MessageRequest = Schemas['MessageRequest']
export type Message = Schemas['Message']

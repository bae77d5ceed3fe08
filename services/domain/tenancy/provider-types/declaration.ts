// The shape of a declaration: all of a provider type that is not code. The check of a config, its secrets, where they are sent, the form on
// the screen, the classes of a vendor's errors and docs/providers.md follow from it. Declarations are plain data and import no library,
// because the dashboard's pages hold them too.
import type { Channel } from '../../../../machines/channels.ts'

/** A member of a config. */
export interface ConfigField {
  label: string
  hint?: string
  /** A single line of text without it. `lines`: a text of several lines. `headers`: names with values. `json`: any JSON. `url`: an address
   *  whose query may be a secret. `base_url`: one to which the vendor's paths are appended. */
  kind?: 'lines' | 'number' | 'switch' | 'choice' | 'headers' | 'json' | 'url' | 'base_url' | 'host' | 'domain'
  /** For a member of a group (`dkim.domain`): the whole group may be missing, none of its required members alone. */
  required?: true
  /** What holds without a value. A member with neither a default nor `required` is null without a value. */
  default?: unknown
  /** Another default while a switch is on. */
  defaultWhen?: { switch: string; default: unknown }
  /** It is shown as a fingerprint only, and hidden in what the vendor says. */
  secret?: true
  /** Decides who receives the secrets: another value needs them again. */
  destination?: true
  /** Only receipts need it: without it there are none. */
  receipts?: true
  /** It is required with another member, and means nothing without it. */
  onlyWith?: string
  choices?: readonly string[]
  /** The screen shows it on demand. */
  rare?: true
  /** The most characters (200 without it), or the highest number. */
  max?: number
  pattern?: { is: RegExp; words: string }
  /** The fewest characters of one that is set anew. One that is stored stays. */
  minNew?: number
  /** Checked when it is set, not when it is read: a key that was stored before there was a check must not disable the app's other
   *  providers. */
  key?: 'rsa'
}

/** A vendor's error codes, each with what it means. */
export type ErrorCodes = Readonly<Record<string, string>>

/** Whose fault an error is. One that is in no list is the provider's. */
export interface VendorErrors {
  /** No provider can reach this recipient. */
  recipient?: ErrorCodes
  /** The recipient asked the vendor for no more messages. Another provider would get round it, so no message goes there on
   *  this channel until they ask for messages again. */
  unsubscribed?: ErrorCodes
  /** In receipts only: the recipient could not be reached. */
  unreachable?: ErrorCodes
  /** This account may not send there; another provider may. */
  destination?: ErrorCodes
  /** In receipts only: the message was withdrawn. */
  superseded?: ErrorCodes
}

export interface ProviderDeclaration {
  label: string
  /** Missing: all of them. */
  channels?: readonly Channel[]
  /** What it is, in one sentence. */
  about: string
  /** Where the values are found. */
  where: string
  /** The vendor's page with the values. */
  site?: { label: string; url: string }
  /** The documents that the adapter was written from. */
  documents?: readonly string[]
  /** What the vendor is to be told about the address of callbacks; missing where there are none. `entered`: by hand, at the vendor. */
  callback?: { entered: boolean; words: string }
  config: Readonly<Record<string, ConfigField>>
  /** The members of the config that say from where it sends. Providers of one company that agree in all of them are one
   *  sender to the person who gets their messages. Missing where no person can answer. */
  sender?: readonly string[]
  /** One of these members is required. */
  oneOf?: readonly [string, string]
  errors?: VendorErrors
}

/** Checks a declaration, and keeps the exact type of its config. */
export const declareProvider = <const T extends ProviderDeclaration>(declaration: T): T => declaration

type Value<F extends ConfigField> = F extends { kind: 'number' }
  ? number
  : F extends { kind: 'switch' }
    ? boolean
    : F extends { kind: 'headers' }
      ? Record<string, string>
      : F extends { kind: 'json' }
        ? Json
        : F extends { choices: readonly (infer C)[] }
          ? C
          : string
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

type Member<F extends ConfigField> = F extends { required: true } | { default: unknown } ? Value<F> : Value<F> | null
type GroupOf<N> = N extends `${infer G}.${string}` ? G : never

/** The config of a declared type, with its defaults. */
export type ConfigOf<D extends ProviderDeclaration> = {
  [N in keyof D['config'] as N extends `${string}.${string}` ? never : N]: Member<D['config'][N]>
} & {
  [G in GroupOf<keyof D['config']>]:
    | {
        [N in keyof D['config'] as N extends `${G}.${infer I}` ? I : never]: Member<D['config'][N]>
      }
    | null
}

/** The field of a vendor whose address has no default. */
export const BASE_URL = {
  label: 'Base URL',
  hint: 'Only for your own proxy or test server. If you change it, enter the secrets again.',
  kind: 'base_url',
  destination: true,
  rare: true,
} as const satisfies ConfigField

export const baseUrl = <const A extends string>(address: A) => ({ ...BASE_URL, default: address }) as const

/** Callbacks without a signature bring HTTP Basic authentication: this user name, which operators enter at the vendor, and a password. */
export const WEBHOOK_USER = 'countersign'
export const WEBHOOK_CREDENTIALS = `the user name "${WEBHOOK_USER}" and the webhook password` as const
/** Strangers can try passwords, so it is long. */
export const WEBHOOK_PASSWORD = {
  label: 'Webhook password',
  hint: `Any text you choose. Enter it at the vendor too, with the user name "${WEBHOOK_USER}". Without it a message stays "sent".`,
  secret: true,
  receipts: true,
  minNew: 16,
} as const satisfies ConfigField

/** The sender of mails. */
export const MAIL_SENDER = {
  label: 'From',
  hint: 'The sender, as "Shop <codes@shop.example>" or the address alone.',
  required: true,
  max: 320,
  pattern: {
    is: /^([^<>\p{Cc}\p{Cs}]*<[^\s<>@\p{Cc}\p{Cs}]+@[^\s<>@\p{Cc}\p{Cs}]+>|[^\s<>@\p{Cc}\p{Cs}]+@[^\s<>@\p{Cc}\p{Cs}]+)$/u,
    words: 'must be an email address',
  },
} as const satisfies ConfigField

// The types of providers as the screen offers them: what each is, where its values are found at the vendor, and a field for every member of
// its config. A test keeps this table in step with the server's schemas.

import type { components } from '../../api/schema.ts'
import { ALL_CHANNELS, CHANNEL_NAMES, channelName } from '../../data/channels.ts'

export type ProviderType = components['schemas']['ProviderType']
export type Channel = components['schemas']['Channel']

export interface ConfigField {
  /** In the config, dotted. */
  path: string
  label: string
  hint?: string
  /** `lines`: a text of several lines. `headers`: names with values. `json`: any JSON. */
  kind: 'text' | 'lines' | 'number' | 'switch' | 'choice' | 'headers' | 'json'
  /** The server never shows it again, only a fingerprint. */
  secret?: true
  required?: true
  /** What holds without a value; it is not sent. */
  default?: unknown
  /** Another default while a switch is on. */
  defaultWhen?: { switch: string; default: unknown }
  /** Decides who receives the secrets: another value needs them again. */
  destination?: true
  /** Means something only together with another field. */
  onlyWith?: string
  choices?: readonly string[]
  /** Shown on demand. */
  rare?: true
}

export interface TypeInfo {
  label: string
  channels: readonly Channel[]
  /** What it is, in one sentence. */
  about: string
  /** Where the values are found. */
  where: string
  /** The vendor's page with the values. */
  site?: { label: string; url: string }
  /** What the vendor is to be told about the address of callbacks; null where there are none. `entered`: by hand, at the vendor. */
  callback: { entered: boolean; words: string } | null
  fields: readonly ConfigField[]
}

const baseUrl = (address: string): ConfigField => ({
  path: 'base_url',
  label: 'Base URL',
  hint: 'Only for a proxy or a test server of your own. Another address needs the secrets again.',
  kind: 'text',
  default: address,
  destination: true,
  rare: true,
})

/** What the server sends to a gateway that has no body of its own. */
export const DEFAULT_BODY = { recipient: '{{recipient}}', text: '{{text}}', delivery_id: '{{delivery_id}}' }

export const PROVIDER_TYPES: Readonly<Record<ProviderType, TypeInfo>> = {
  twilio: {
    label: 'Twilio',
    channels: ['sms'],
    about: 'Sends text messages through your Twilio account.',
    where:
      'Account SID and auth token are on the first page of the Twilio Console, senders under Phone Numbers or Messaging Services.',
    site: { label: 'Twilio Console', url: 'https://console.twilio.com' },
    callback: { entered: false, words: 'Twilio gets this address with every message: there is nothing to enter.' },
    fields: [
      {
        path: 'account_sid',
        label: 'Account SID',
        hint: '"AC" and 32 hex digits.',
        kind: 'text',
        required: true,
      },
      { path: 'auth_token', label: 'Auth token', kind: 'text', secret: true, required: true },
      {
        path: 'from',
        label: 'From',
        hint: 'A number of yours such as +15005550006, or a sender name. Not needed with a messaging service.',
        kind: 'text',
      },
      {
        path: 'messaging_service_sid',
        label: 'Messaging service SID',
        hint: '"MG" and 32 hex digits. Twilio then chooses among the senders of the service.',
        kind: 'text',
      },
      baseUrl('https://api.twilio.com'),
    ],
  },
  vonage: {
    label: 'Vonage',
    channels: ['sms'],
    about: "Sends text messages through Vonage's Messages API.",
    where:
      'Create an application with the capability Messages under Applications: it has the ID, and the button for a key pair gives you the private key. The signature secret is under API Settings.',
    site: { label: 'Vonage Dashboard', url: 'https://dashboard.vonage.com' },
    callback: { entered: false, words: 'Vonage gets this address with every message: there is nothing to enter.' },
    fields: [
      { path: 'application_id', label: 'Application ID', kind: 'text', required: true },
      {
        path: 'private_key',
        label: 'Private key',
        hint: 'The whole file, from -----BEGIN to the last -----.',
        kind: 'lines',
        secret: true,
        required: true,
      },
      {
        path: 'from',
        label: 'From',
        hint: 'A number of yours, or a sender name of up to 11 letters and digits.',
        kind: 'text',
        required: true,
      },
      {
        path: 'signature_secret',
        label: 'Signature secret',
        hint: 'Checks receipts. Without it a message stays "sent".',
        kind: 'text',
        secret: true,
      },
      baseUrl('https://api.nexmo.com'),
    ],
  },
  whatsapp_cloud: {
    label: 'WhatsApp Cloud API',
    channels: ['whatsapp'],
    about: "Sends WhatsApp messages through Meta's Cloud API.",
    where:
      'In your Meta app: the phone number ID under WhatsApp, API Setup; a permanent access token from a system user in the business settings; the app secret under App settings, Basic. Templates are in the WhatsApp Manager.',
    site: { label: 'Meta for Developers', url: 'https://developers.facebook.com/apps' },
    callback: {
      entered: true,
      words:
        'Enter it in your Meta app under WhatsApp, Configuration, together with the verify token, and subscribe to "messages".',
    },
    fields: [
      {
        path: 'phone_number_id',
        label: 'Phone number ID',
        hint: 'The ID, not the number.',
        kind: 'text',
        required: true,
      },
      { path: 'access_token', label: 'Access token', kind: 'text', secret: true, required: true },
      {
        path: 'template',
        label: 'Template',
        hint: 'The name of an approved authentication template. Not needed in the link modes.',
        kind: 'text',
      },
      {
        path: 'app_secret',
        label: 'App secret',
        hint: 'Checks receipts and users\' messages. Without it a message stays "sent".',
        kind: 'text',
        secret: true,
      },
      {
        path: 'verify_token',
        label: 'Verify token',
        hint: 'A text of your choice. Meta repeats it when you enter the callback address.',
        kind: 'text',
        secret: true,
      },
      {
        path: 'template_language',
        label: 'Template language',
        hint: "Always this one, such as en_US. Without it, the verification's language.",
        kind: 'text',
        rare: true,
      },
      { path: 'api_version', label: 'API version', kind: 'text', default: 'v23.0', rare: true },
      baseUrl('https://graph.facebook.com'),
    ],
  },
  telegram_gateway: {
    label: 'Telegram Gateway',
    channels: ['telegram'],
    about: 'Sends codes to Telegram accounts by phone number.',
    where: 'Sign in to the Telegram Gateway with your phone: the API token is in the account settings.',
    site: { label: 'Telegram Gateway', url: 'https://gateway.telegram.org' },
    callback: {
      entered: false,
      words: 'Telegram gets this address with every message, if it is an https address: there is nothing to enter.',
    },
    fields: [
      { path: 'token', label: 'API token', kind: 'text', secret: true, required: true },
      baseUrl('https://gatewayapi.telegram.org'),
    ],
  },
  smtp: {
    label: 'Mail server (SMTP)',
    channels: ['email'],
    about: 'Sends mail through any mail server or mail vendor that speaks SMTP.',
    where: 'Your mail vendor lists host, port, user and password under "SMTP" or "SMTP credentials".',
    callback: null,
    fields: [
      {
        path: 'host',
        label: 'Host',
        hint: 'Such as smtp.example.com. Another host needs the password again.',
        kind: 'text',
        required: true,
        destination: true,
      },
      {
        path: 'port',
        label: 'Port',
        kind: 'number',
        default: 587,
        defaultWhen: { switch: 'secure', default: 465 },
        destination: true,
      },
      {
        path: 'secure',
        label: 'TLS from the first byte',
        hint: 'For port 465. Off: STARTTLS, which every server on the public internet must offer.',
        kind: 'switch',
        default: false,
        destination: true,
      },
      { path: 'user', label: 'User', kind: 'text' },
      { path: 'pass', label: 'Password', kind: 'text', secret: true, onlyWith: 'user' },
      {
        path: 'from',
        label: 'From',
        hint: 'The sender, as "Shop <codes@shop.example>" or the address alone.',
        kind: 'text',
        required: true,
      },
      {
        path: 'dkim.domain',
        label: 'DKIM domain',
        hint: 'Only if the mail server does not sign mails itself.',
        kind: 'text',
        rare: true,
      },
      { path: 'dkim.selector', label: 'DKIM selector', kind: 'text', rare: true },
      {
        path: 'dkim.private_key',
        label: 'DKIM private key',
        hint: 'An RSA key, from -----BEGIN to the last -----.',
        kind: 'lines',
        secret: true,
        rare: true,
      },
    ],
  },
  http: {
    label: 'Your own gateway (HTTP)',
    channels: ALL_CHANNELS,
    about: 'Calls any address that takes JSON over HTTP: a gateway of your own, or a vendor without a type here.',
    where: "The address and the headers are those of your gateway, or in the vendor's API reference.",
    callback: {
      entered: true,
      words:
        'Have your gateway send receipts here: {"delivery_id": "…", "status": "sent" | "delivered" | "failed"}, signed with the receipt secret like our webhooks.',
    },
    fields: [
      {
        path: 'url',
        label: 'URL',
        hint: 'Called once for each message. Another address needs the secrets again.',
        kind: 'text',
        required: true,
        destination: true,
      },
      { path: 'method', label: 'Method', kind: 'choice', choices: ['POST', 'PUT', 'PATCH'], default: 'POST' },
      {
        path: 'headers',
        label: 'Headers',
        hint: 'Such as authorization. Their values are secret.',
        kind: 'headers',
        secret: true,
      },
      { path: 'body', label: 'Body', kind: 'json', default: DEFAULT_BODY },
      {
        path: 'secret',
        label: 'Receipt secret',
        hint: 'Checks the signature of receipts. Without it a message stays "sent".',
        kind: 'text',
        secret: true,
      },
    ],
  },
  sandbox: {
    label: 'Sandbox',
    channels: ALL_CHANNELS,
    about: 'Puts the messages of live keys into the sandbox inbox, for a staging system. Nothing is sent.',
    where: 'There is nothing to enter.',
    callback: null,
    fields: [],
  },
}

/** What stands in the strings of a gateway's body, and what comes in its place. */
export const PLACEHOLDERS: readonly { name: string; meaning: string }[] = [
  { name: '{{recipient}}', meaning: 'the phone number or address' },
  { name: '{{text}}', meaning: 'the message in the language of the user' },
  { name: '{{code}}', meaning: 'the code alone' },
  { name: '{{delivery_id}}', meaning: 'our id of the message, for receipts' },
]

export const CHANNELS: readonly { value: Channel; label: string }[] = ALL_CHANNELS.map(value => ({
  value,
  label: CHANNEL_NAMES[value],
}))

export const channelLabel = (channel: Channel): string => channelName(channel)

/** The types that serve a channel; all of them without one. */
export const typesFor = (channel: Channel | null): ProviderType[] =>
  (Object.keys(PROVIDER_TYPES) as ProviderType[]).filter(
    type => channel === null || PROVIDER_TYPES[type].channels.includes(channel),
  )

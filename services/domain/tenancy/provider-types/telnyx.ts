import { baseUrl, declareProvider } from './declaration.ts'

export const telnyx = declareProvider({
  label: 'Telnyx',
  channels: ['sms'],
  about: "Sends text messages through Telnyx's Messaging API.",
  where:
    'API key and public key are under Account Settings, Keys & Credentials. Numbers and messaging profiles are under Messaging.',
  site: { label: 'Telnyx Mission Control', url: 'https://portal.telnyx.com' },
  documents: [
    'https://github.com/team-telnyx/openapi',
    'https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks',
    'https://developers.telnyx.com/docs/messaging/messages/error-codes',
    'https://developers.telnyx.com/docs/messaging/messages/send-message',
  ],
  callback: {
    entered: true,
    words:
      'Telnyx gets this address with every message, for receipts. So that STOP and START arrive, enter it as the webhook of the messaging profile too.',
  },
  config: {
    api_key: { label: 'API key', secret: true, required: true },
    from: {
      label: 'From',
      hint: 'One of your numbers, such as +13125550001, or a sender name, which needs the profile too. Without it, Telnyx chooses a number from the profile.',
    },
    messaging_profile_id: { label: 'Messaging profile ID', hint: 'Not needed with a number that has a profile.' },
    public_key: {
      label: 'Public key',
      hint: 'Checks receipts. Without it a message stays "sent".',
      receipts: true,
      pattern: { is: /^[A-Za-z0-9+/]{43}=$/, words: 'must be the base64 of an Ed25519 key: 44 characters' },
    },
    base_url: baseUrl('https://api.telnyx.com'),
  },
  oneOf: ['from', 'messaging_profile_id'],
  sender: ['from', 'messaging_profile_id'],
  errors: {
    recipient: {
      40001: 'a landline, or not routable',
      40012: 'not a valid number',
      40310: 'not a valid number',
      42201: 'not a valid number',
    },
    unsubscribed: { 40300: 'the user said STOP' },
    unreachable: { 40006: "the recipient's carrier does not answer" },
    destination: {
      40301: 'a kind of message that this number cannot receive',
      40309: 'a region that is not enabled',
      40319: 'a kind of message that this number cannot receive',
    },
  },
})

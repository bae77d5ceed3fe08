import { baseUrl, declareProvider } from './declaration.ts'

/** Twilio's ids: two letters for the kind of thing, and 32 hex digits. Twilio answers 404 to any other text, at the first message. */
const sid = (prefix: 'AC' | 'MG') => ({
  is: new RegExp(`^${prefix}[0-9a-fA-F]{32}$`),
  words: `must be "${prefix}" followed by 32 hex digits`,
})

export const twilio = declareProvider({
  label: 'Twilio',
  channels: ['sms'],
  about: 'Sends text messages through your Twilio account.',
  where:
    'Account SID and auth token are on the first page of the Twilio Console, senders under Phone Numbers or Messaging Services.',
  site: { label: 'Twilio Console', url: 'https://console.twilio.com' },
  documents: ['https://www.twilio.com/docs/messaging/api/message-resource', 'https://www.twilio.com/docs/api/errors'],
  callback: {
    entered: true,
    words:
      'Twilio gets this address with every message, for receipts. So that STOP and START arrive, enter it as the webhook for incoming messages too (HTTP POST), at the number or at the messaging service.',
  },
  config: {
    account_sid: { label: 'Account SID', hint: '"AC" and 32 hex digits.', required: true, pattern: sid('AC') },
    auth_token: { label: 'Auth token', secret: true, required: true },
    from: {
      label: 'From',
      hint: 'One of your numbers, such as +15005550006, or a sender name. Not needed with a messaging service.',
    },
    messaging_service_sid: {
      label: 'Messaging service SID',
      hint: '"MG" and 32 hex digits. Twilio then chooses among the senders of the service.',
      pattern: sid('MG'),
    },
    base_url: baseUrl('https://api.twilio.com'),
  },
  oneOf: ['from', 'messaging_service_sid'],
  sender: ['account_sid', 'from', 'messaging_service_sid'],
  errors: {
    recipient: {
      21211: 'not a valid number',
      21214: 'cannot be reached',
      21217: 'does not appear to be valid',
      21265: 'a short code',
      21268: 'a premium number',
      21614: 'not a mobile number',
      21635: 'a landline',
    },
    unsubscribed: { 21610: 'the user said STOP' },
    unreachable: {
      30003: 'Unreachable destination handset',
      30004: 'Message blocked',
      30005: 'Unknown destination handset',
      30006: 'Landline or unreachable carrier',
    },
    destination: {
      21266: "the sender's own number",
      21408: 'a region that is not enabled',
      21608: 'a number that a trial account has not verified',
      21612: 'no route from this sender',
    },
    superseded: { canceled: 'canceled before it was sent' },
  },
})

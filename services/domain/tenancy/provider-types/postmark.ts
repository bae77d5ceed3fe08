import { baseUrl, declareProvider, MAIL_SENDER, WEBHOOK_CREDENTIALS, WEBHOOK_PASSWORD } from './declaration.ts'

export const postmark = declareProvider({
  label: 'Postmark',
  channels: ['email'],
  about: "Sends mail through Postmark's email API.",
  where: 'Open your server in Postmark: the server API token is under API Tokens.',
  site: { label: 'Postmark', url: 'https://account.postmarkapp.com' },
  documents: [
    'https://postmarkapp.com/developer/api/email-api',
    'https://postmarkapp.com/developer/api/overview',
    'https://postmarkapp.com/developer/api/bounce-api',
    'https://postmarkapp.com/developer/webhooks/bounce-webhook',
    'https://postmarkapp.com/developer/webhooks/delivery-webhook',
  ],
  callback: {
    entered: true,
    words: `Enter it in the message stream, under Webhooks, for Delivery and Bounce, with basic auth: ${WEBHOOK_CREDENTIALS}.`,
  },
  config: {
    server_token: { label: 'Server API token', secret: true, required: true },
    from: MAIL_SENDER,
    webhook_password: WEBHOOK_PASSWORD,
    message_stream: { label: 'Message stream', default: 'outbound', rare: true },
    base_url: baseUrl('https://api.postmarkapp.com'),
  },
  errors: {
    recipient: { 406: 'an inactive address: a mail to it bounced, or was reported as spam' },
    unreachable: {
      HardBounce: 'the mailbox does not exist',
      BadEmailAddress: 'not a valid address',
      SoftBounce: 'the mailbox is full or closed',
      ManuallyDeactivated: 'an address that the account has deactivated',
    },
    // Strangers choose the address, and must not open the breaker with one that Postmark refuses.
    destination: {
      300: 'a request that Postmark refuses, such as an address in a form that it does not support',
      412: 'an account that is not approved yet may send only to its own domain',
    },
  },
})

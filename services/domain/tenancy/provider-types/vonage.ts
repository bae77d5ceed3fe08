import { baseUrl, declareProvider } from './declaration.ts'

export const vonage = declareProvider({
  label: 'Vonage',
  channels: ['sms'],
  about: "Sends text messages through Vonage's Messages API.",
  where:
    'Under Applications, create an application with the Messages capability: it shows the ID, and its button for a key pair gives you the private key. The signature secret is under API Settings.',
  site: { label: 'Vonage Dashboard', url: 'https://dashboard.vonage.com' },
  documents: [
    'https://developer.vonage.com/en/api/messages',
    'https://developer.vonage.com/en/messages/concepts/signed-webhooks',
    'https://developer.vonage.com/en/api-errors/messages',
  ],
  callback: {
    entered: true,
    words:
      'Vonage gets this address with every message, for receipts. So that STOP and START arrive, enter it as the inbound URL of the application too, and link your number to the application.',
  },
  config: {
    application_id: { label: 'Application ID', required: true },
    private_key: {
      label: 'Private key',
      hint: 'The whole file, from -----BEGIN to the last -----.',
      kind: 'lines',
      secret: true,
      required: true,
      key: 'rsa',
    },
    from: {
      label: 'From',
      hint: 'One of your numbers, or a sender name of up to 11 letters and digits.',
      required: true,
    },
    signature_secret: {
      label: 'Signature secret',
      hint: 'Checks receipts. Without it a message stays "sent".',
      secret: true,
      receipts: true,
      max: 1_000,
    },
    base_url: baseUrl('https://api.nexmo.com'),
  },
  sender: ['from'],
  // Errors that depend on the account or its sender are left out.
  errors: {
    recipient: {
      1050: 'barred',
      1170: 'not a valid number',
      1190: 'no longer active',
      1430: 'not a recipient of this channel',
    },
    unsubscribed: { 1240: 'the user said STOP' },
    unreachable: {
      1180: 'switched off or out of coverage',
      1200: 'moved to another carrier',
      1220: 'the handset is busy',
      1260: 'could not be reached',
      1280: "the recipient's carrier blocks it",
      1290: 'a prepaid account without credit',
      1300: 'not a user of the network',
      1310: 'a device that cannot receive it',
    },
    destination: {
      1160: "not on the account's test list",
      1250: 'no route from this sender',
    },
  },
})

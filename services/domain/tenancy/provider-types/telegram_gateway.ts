import { baseUrl, declareProvider } from './declaration.ts'

export const telegram_gateway = declareProvider({
  label: 'Telegram Gateway',
  channels: ['telegram'],
  about: 'Sends codes to Telegram accounts by phone number.',
  where: 'Sign in to the Telegram Gateway with your phone: the API token is in the account settings.',
  site: { label: 'Telegram Gateway', url: 'https://gateway.telegram.org' },
  documents: ['https://core.telegram.org/gateway/api'],
  callback: {
    entered: false,
    words: 'Telegram gets this address with every message, if it is an https address: there is nothing to enter.',
  },
  config: {
    token: { label: 'API token', secret: true, required: true },
    base_url: baseUrl('https://gatewayapi.telegram.org'),
  },
  // Telegram documents no errors; these names are known from client libraries.
  errors: {
    recipient: {
      PHONE_NUMBER_INVALID: 'not a valid number',
      PHONE_NUMBER_NOT_FOUND: 'no Telegram user has it',
      PHONE_NUMBER_NOT_AVAILABLE: 'its user cannot receive codes',
    },
    unreachable: { expired: 'not delivered in time' },
    superseded: { revoked: 'the account took it back' },
  },
})

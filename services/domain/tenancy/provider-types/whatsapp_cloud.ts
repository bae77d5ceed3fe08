import { baseUrl, declareProvider } from './declaration.ts'

export const whatsapp_cloud = declareProvider({
  label: 'WhatsApp Cloud API',
  channels: ['whatsapp'],
  about: "Sends WhatsApp messages through Meta's Cloud API.",
  where:
    'In your Meta app: the phone number ID under WhatsApp, API Setup; a permanent access token from a system user in the business settings; the app secret under App settings, Basic. Templates are in the WhatsApp Manager.',
  site: { label: 'Meta for Developers', url: 'https://developers.facebook.com/apps' },
  documents: [
    'https://developers.facebook.com/documentation/business-messaging/whatsapp/templates/authentication-templates/copy-code-button-authentication-templates',
    'https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages',
    'https://developers.facebook.com/documentation/business-messaging/whatsapp/business-scoped-user-ids',
    'https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes',
  ],
  callback: {
    entered: true,
    words:
      'Enter it in your Meta app under WhatsApp, Configuration, together with the verify token, and subscribe to "messages".',
  },
  config: {
    phone_number_id: { label: 'Phone number ID', hint: 'The ID, not the number.', required: true },
    access_token: { label: 'Access token', secret: true, required: true, max: 2_000 },
    template: {
      label: 'Template',
      hint: 'The name of an approved authentication template. Not needed in the link modes.',
      max: 512,
    },
    app_secret: {
      label: 'App secret',
      hint: 'Checks receipts and users\' messages. Without it a message stays "sent".',
      secret: true,
      receipts: true,
    },
    verify_token: {
      label: 'Verify token',
      hint: 'Any text you choose. Meta repeats it when you enter the callback address.',
      secret: true,
      receipts: true,
    },
    template_language: {
      label: 'Template language',
      hint: "Such as en_US, for every message. Without it, the verification's language.",
      rare: true,
      max: 20,
    },
    api_version: {
      label: 'API version',
      default: 'v23.0',
      rare: true,
      pattern: { is: /^v\d{1,3}\.\d{1,3}$/, words: 'must be a version of the Graph API, such as "v23.0"' },
    },
    base_url: baseUrl('https://graph.facebook.com'),
  },
  sender: ['phone_number_id'],
  // All other errors depend on the account: its token (0, 190), permissions (3, 10, 200–299), rates (4, 80007, 130429, 131048, 131056),
  // payment (131042), template (132…), standing (368, 131031); or on Meta itself (1, 2, 131000, 131016).
  errors: {
    recipient: {
      130472: "the number is part of one of Meta's experiments, for every business",
      131021: "the sender's own number",
      131026: 'not on WhatsApp, or not able to receive this message',
      131062: 'a user without a known number, to whom this message cannot go',
    },
    destination: {
      130497: 'a country that the account may not send to',
      131030: "not on the account's test list",
      131047: 'a user who has not written recently',
    },
  },
})

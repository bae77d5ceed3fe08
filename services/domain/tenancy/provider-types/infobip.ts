import { declareProvider, WEBHOOK_CREDENTIALS, WEBHOOK_PASSWORD } from './declaration.ts'

export const infobip = declareProvider({
  label: 'Infobip',
  channels: ['sms'],
  about: "Sends text messages through Infobip's SMS API.",
  where:
    'The base URL of your account and the API keys are on the first page of the Infobip Portal, under Developer Tools.',
  site: { label: 'Infobip Portal', url: 'https://portal.infobip.com' },
  documents: [
    'https://www.infobip.com/docs/api/channels/sms',
    'https://www.infobip.com/docs/api/platform/subscriptions-api',
    'https://www.infobip.com/docs/essentials/api-essentials/response-status-and-error-codes',
    'https://github.com/infobip/infobip-api-java-client',
  ],
  callback: {
    entered: true,
    words: `Under Developer Tools, Subscriptions Management, create a subscription for the channel SMS and the event DELIVERY, with this address and basic authentication: ${WEBHOOK_CREDENTIALS}. So that STOP and START arrive, have the inbound messages of your number forwarded there in the same way.`,
  },
  config: {
    base_url: {
      label: 'Base URL',
      hint: "Your account's, such as https://xxxxx.api.infobip.com. If you change it, enter the secrets again.",
      kind: 'base_url',
      required: true,
      destination: true,
    },
    api_key: { label: 'API key', hint: 'It needs the scope sms:message:send.', secret: true, required: true },
    from: { label: 'From', hint: 'One of your numbers, or a sender name.', required: true },
    webhook_password: WEBHOOK_PASSWORD,
  },
  sender: ['base_url', 'from'],
  errors: {
    recipient: {
      REJECTED_PREFIX_MISSING: 'not a valid number',
      REJECTED_DESTINATION: 'not a valid number',
      REJECTED_DND: 'the user receives no service messages', // using another provider would get round it
    },
    unsubscribed: { EC_SC_BLOCKED_BY_END_USER: 'the user said STOP' },
    unreachable: {
      EC_UNKNOWN_SUBSCRIBER: 'not a user of the network',
      EC_UNIDENTIFIED_SUBSCRIBER: 'not a user of the network',
      EC_INVALID_DESTINATION_ADDRESS: 'not a user of the network',
      EC_INVALID_REQUEST_DESTINATION: 'a country code that does not exist',
      EC_DEACTIVATED_LIST: 'no longer active',
      EC_ABSENT_SUBSCRIBER: 'switched off or out of coverage',
      EC_ABSENT_SUBSCRIBER_SM: 'switched off or out of coverage',
      EC_ROAMING_NOT_ALLOWED: 'abroad, without roaming',
      EC_SUBSCRIBER_BUSY_FOR_MT_SMS: 'the handset is busy',
      EC_SM_DF_MEMORYCAPACITYEXCEEDED: "the handset's memory is full",
      EC_USER_OUT_OF_CREDIT: 'a prepaid account without credit',
      EC_ILLEGAL_SUBSCRIBER: 'barred',
      EC_CALL_BARRED: 'barred',
      EC_DEST_ADDRESS_SUSPENDED: 'barred',
      EC_DESTINATION_BLOCKED_BY_OPERATOR: 'barred',
      EC_ILLEGAL_EQUIPMENT: 'a barred handset',
      EC_TELESERVICE_NOT_PROVISIONED: 'a subscription without text messages',
      EC_DESTINATION_NOT_SMS_PROVISIONED: 'a subscription without text messages',
      EC_DEST_ADDRESS_UNABLE_TO_RECEIVE_SMS: 'a device that cannot receive it',
      EC_CONTENT_BLOCKED: 'the user said STOP, or blocks such messages',
      EC_DEST_ADDRESS_BLACKLISTED: "on the operator's list of users who receive no service messages",
    },
    destination: {
      REJECTED_NETWORK: 'a network that is not enabled',
      REJECTED_DESTINATION_BLOCKLISTED: 'on a block list of the account or its operator',
      REJECTED_DESTINATION_NOT_REGISTERED: "not on the account's test list",
      REJECTED_FLOODING_FILTER: 'too many messages to this number',
      SIGNALS_BLOCKED: "Infobip's protection against fraud",
    },
  },
})

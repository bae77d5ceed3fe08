import { BASE_URL, declareProvider, MAIL_SENDER } from './declaration.ts'

export const ses = declareProvider({
  label: 'Amazon SES',
  channels: ['email'],
  about: 'Sends mail through Amazon Simple Email Service (API v2).',
  where:
    'Create an IAM user with the permission ses:SendEmail and an access key. Identities and configuration sets are in the Amazon SES console, in your region.',
  site: { label: 'Amazon SES console', url: 'https://console.aws.amazon.com/ses' },
  documents: [
    'https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html',
    'https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html',
    'https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html',
    'https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html',
  ],
  callback: {
    entered: true,
    words:
      'Create an SNS topic, add it to the configuration set as the destination of the events Send, Delivery, Bounce and Reject, and subscribe this address to it (HTTPS, without raw message delivery). The subscription is confirmed automatically.',
  },
  config: {
    region: {
      label: 'Region',
      hint: 'Such as eu-west-1.',
      required: true,
      destination: true,
      pattern: { is: /^[a-z]{2,4}(-[a-z]{3,10}){1,2}-\d$/, words: 'must be an AWS region, such as "eu-west-1"' },
    },
    access_key_id: { label: 'Access key ID', required: true },
    secret_access_key: { label: 'Secret access key', secret: true, required: true },
    from: MAIL_SENDER,
    configuration_set: {
      label: 'Configuration set',
      hint: 'Publishes the events that receipts come from.',
      receipts: true,
      max: 64,
    },
    topic_arn: {
      label: 'SNS topic ARN',
      hint: 'Only events of this topic are accepted. Without it a message stays "sent".',
      receipts: true,
      pattern: {
        is: /^arn:aws(-[a-z-]+)?:sns:[a-z]{2,4}(-[a-z]{3,10}){1,2}-\d:\d{12}:[\w-]{1,256}$/,
        words: 'must be the ARN of a topic, such as "arn:aws:sns:eu-west-1:123456789012:mail"',
      },
    },
    base_url: BASE_URL,
  },
  errors: {
    // Strangers choose the address, and must not open the breaker with one that SES does not take.
    destination: {
      BadRequestException: 'a request that SES does not take, such as an address of a form that it refuses',
    },
    unreachable: {
      Permanent: 'the mailbox does not exist, or is on a list of addresses that bounced or complained',
      'Transient.MailboxFull': 'the mailbox is full',
    },
  },
})

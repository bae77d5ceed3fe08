import { declareProvider, MAIL_SENDER } from './declaration.ts'

export const smtp = declareProvider({
  label: 'Mail server (SMTP)',
  channels: ['email'],
  about: 'Sends mail through any mail server or mail vendor that speaks SMTP.',
  where: 'Your mail vendor lists host, port, user and password under "SMTP" or "SMTP credentials".',
  config: {
    host: {
      label: 'Host',
      hint: 'Such as smtp.example.com. If you change it, enter the password again.',
      kind: 'host',
      required: true,
      destination: true,
    },
    port: {
      label: 'Port',
      kind: 'number',
      max: 65_535,
      default: 587,
      defaultWhen: { switch: 'secure', default: 465 },
      destination: true,
    },
    // It decides too: without TLS from the first byte the network may read the password.
    secure: {
      label: 'TLS from the first byte',
      hint: 'For port 465. Off: STARTTLS, which every server on the public internet must offer.',
      kind: 'switch',
      default: false,
      destination: true,
    },
    user: { label: 'User' },
    pass: { label: 'Password', secret: true, onlyWith: 'user', max: 1_000 },
    from: MAIL_SENDER,
    'dkim.domain': {
      label: 'DKIM domain',
      hint: 'Only if the mail server does not sign mails itself.',
      kind: 'domain',
      required: true,
      rare: true,
    },
    'dkim.selector': { label: 'DKIM selector', required: true, rare: true },
    'dkim.private_key': {
      label: 'DKIM private key',
      hint: 'An RSA key, from -----BEGIN to the last -----.',
      kind: 'lines',
      secret: true,
      required: true,
      rare: true,
    },
  },
})

import { declareProvider } from './declaration.ts'

/** What may stand in the strings of a body, and what comes in its place. */
export const PLACEHOLDERS = {
  recipient: 'the phone number or address',
  text: "the message in the user's language",
  code: 'the code alone',
  delivery_id: 'our id for the message, for receipts',
} as const

export const http = declareProvider({
  label: 'Your own gateway (HTTP)',
  about: 'Calls any address that accepts JSON over HTTP: your own gateway, or a vendor that has no type here.',
  where: "The address and the headers are those of your gateway; a vendor's are in its API reference.",
  callback: {
    entered: true,
    words:
      'Have your gateway send receipts here: {"delivery_id": "…", "status": "sent" | "delivered" | "failed"}, signed with the receipt secret like our webhooks.',
  },
  config: {
    url: {
      label: 'URL',
      hint: 'Called once for each message. If you change it, enter the secrets again.',
      kind: 'url',
      required: true,
      destination: true,
    },
    method: { label: 'Method', kind: 'choice', choices: ['POST', 'PUT', 'PATCH'], default: 'POST' },
    headers: {
      label: 'Headers',
      hint: 'Such as authorization. Their values are secret.',
      kind: 'headers',
      default: {},
      secret: true,
    },
    body: {
      label: 'Body',
      kind: 'json',
      default: { recipient: '{{recipient}}', text: '{{text}}', delivery_id: '{{delivery_id}}' },
    },
    // It signs receipts, and strangers can try signatures.
    secret: {
      label: 'Receipt secret',
      hint: 'Checks the signature of receipts. Without it a message stays "sent".',
      secret: true,
      receipts: true,
      max: 1_000,
      minNew: 16,
    },
  },
})

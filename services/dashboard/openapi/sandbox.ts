// The sandbox in the OpenAPI document.
import { inboundBody } from '../sandbox/routes.ts'
import { accepted, type SandboxMessageAnswer, sandboxMessages } from '../sandbox/schemas.ts'
import { adminOperation, ok, query } from './admin-operation.ts'

const inboundRequest = inboundBody.meta({ id: 'SandboxInboundRequest', description: "A user's WhatsApp message." })

const example: SandboxMessageAnswer = {
  otp_id: 'otp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  delivery_id: 'dlv_01k2m8x4ea5c9r2mbt7kfw0xzd',
  channel: 'sms',
  recipient: '+447911123456',
  text: '123456 is your Shop verification code.',
  code: '123456',
  at: '2030-01-01T12:00:00.000Z',
}

export const sandboxOperations = [
  adminOperation({
    id: 'listSandboxMessages',
    route: ['get', '/sandbox/messages'],
    summary: 'Read the sandbox inbox',
    description: 'The latest 100 messages of test keys, newest first.',
    parameters: [query('recipient', 'A phone number (`%2B` for the plus) or an email address.')],
    answers: [ok(sandboxMessages, 'The messages.', [example])],
  }),
  adminOperation({
    id: 'playSandboxMessage',
    route: ['post', '/sandbox/inbound'],
    summary: 'Play a WhatsApp message',
    description: 'Simulates a message from a user, so that link modes can be finished in test mode.',
    request: {
      schema: inboundRequest,
      example: { app_id: 'app_01k2m8x4e9s7v3hqz5tnw6yb0c', from: '+447911123456', text: 'K7Q2M9XD4RBT3WHN' },
    },
    answers: [ok(accepted, 'It was taken.', { accepted: true })],
  }),
]

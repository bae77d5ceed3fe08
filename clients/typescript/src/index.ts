export { type CallOptions, Countersign, type CountersignOptions, type SendOptions, type SolveWidget } from './client.ts'
export * from './errors.ts'
export type * from './types.ts'
export { verifyWebhook, type WebhookOptions } from './webhook.ts'

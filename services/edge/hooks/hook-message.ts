/** What a login wants to be delivered. */
export interface HookMessage {
  recipient: string
  code: string
  client_ip?: string
}

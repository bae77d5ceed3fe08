import { expect } from 'chai'
import type { WebhookSecret } from '../../../../services/domain/webhooks/documents.ts'
import {
  OLD_SECRET_TTL_MS,
  signingSecrets,
  withCurrent,
  withNext,
} from '../../../../services/domain/webhooks/secrets.ts'

const NOW = 1_000_000

const secret = (id: string, state: WebhookSecret['state'], expires_at: number | null = null): WebhookSecret => ({
  id,
  state,
  sealed: `sealed ${id}`,
  created_at: 0,
  expires_at,
})
const states = (secrets: WebhookSecret[]) => secrets.map(({ id, state, expires_at }) => [id, state, expires_at])

describe('webhook secrets', () => {
  it('become old for a day when another becomes current', () => {
    const secrets = withCurrent([secret('a', 'current')], secret('b', 'current'), NOW)
    expect(states(secrets)).to.deep.equal([
      ['b', 'current', null],
      ['a', 'old', NOW + OLD_SECRET_TTL_MS],
    ])
  })

  it('are promoted from the list, whether they are next or old', () => {
    const secrets = [secret('a', 'current'), secret('b', 'next'), secret('c', 'old', NOW + 5)]
    expect(states(withCurrent(secrets, secret('b', 'next'), NOW))).to.deep.equal([
      ['b', 'current', null],
      ['a', 'old', NOW + OLD_SECRET_TTL_MS],
      ['c', 'old', NOW + 5],
    ])
    expect(states(withCurrent(secrets, secret('c', 'old', NOW + 5), NOW))).to.deep.equal([
      ['c', 'current', null],
      ['a', 'old', NOW + OLD_SECRET_TTL_MS],
      ['b', 'next', null],
    ])
  })

  it('replace another secret that awaits promotion', () => {
    const secrets = [secret('a', 'current'), secret('b', 'next'), secret('c', 'old', NOW + 5), secret('d', 'old', NOW)]
    expect(withNext(secrets, secret('e', 'next'), NOW).map(({ id }) => id)).to.deep.equal(['a', 'c', 'e'])
  })

  it('are dropped when their day has passed', () => {
    const secrets = withCurrent([secret('a', 'current'), secret('z', 'old', NOW)], secret('b', 'next'), NOW)
    expect(secrets.map(({ id }) => id)).to.deep.equal(['b', 'a'])
  })

  it('sign until they expire, the current one first', () => {
    const secrets = [secret('z', 'old', NOW + 1), secret('b', 'next'), secret('a', 'current')]
    expect(signingSecrets(secrets, NOW).map(({ id }) => id)).to.deep.equal(['a', 'z', 'b'])
    expect(signingSecrets(secrets, NOW + 1).map(({ id }) => id)).to.deep.equal(['a', 'b'])
  })
})

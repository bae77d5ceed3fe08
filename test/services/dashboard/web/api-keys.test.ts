import { expect } from 'chai'
import { type ApiKey, inOrder, sendCommand } from '../../../../services/dashboard/web/screens/api-keys/key-text.ts'

describe('API keys in words', () => {
  const key = (id: string, more: Partial<ApiKey> = {}): ApiKey => ({
    id,
    app_id: 'app_1',
    kind: 'server',
    mode: 'test',
    name: null,
    last4: 'x7Qp',
    created_at: '2030-01-01T12:00:00.000Z',
    last_used_at: null,
    revoked_at: null,
    ...more,
  })

  it('are listed newest first, revoked ones last', () => {
    const keys = [
      key('key_old'),
      key('key_revoked', { created_at: '2030-03-01T00:00:00.000Z', revoked_at: '2030-03-02T00:00:00.000Z' }),
      key('key_new', { created_at: '2030-02-01T00:00:00.000Z' }),
    ]
    expect(inOrder(keys).map(({ id }) => id)).to.deep.equal(['key_new', 'key_old', 'key_revoked'])
    expect(keys[0]?.id, 'the list of the caller stays as it is').to.equal('key_old')
  })

  it('are used in a command that can be pasted into a terminal', () => {
    expect(sendCommand('https://otp.example', { key: 'sk_test_1', mode: 'test' })).to.equal(
      `curl https://otp.example/api/v1/otp/send \\
  -H 'Authorization: Bearer sk_test_1' \\
  -H 'Content-Type: application/json' \\
  -d '{"recipient": "+15005550010"}'`,
    )
    expect(sendCommand('', { key: '', mode: 'live' }), 'no magic number in live mode').not.to.include('+1500555')
  })
})

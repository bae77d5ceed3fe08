import { expect } from 'chai'
import { buildRequest, keyProblem, pathProblem, testKeyKind } from '../../../../services/edge/docs/web/try-request.ts'

const BOTH = ['server', 'publishable']

describe('the key of a call that is tried on the reference page', () => {
  it('may be a test key of a kind that may call; any other key is refused in words, and never taken when it is a live key', () => {
    expect(keyProblem('sk_test_abc123', BOTH)).to.equal(null)
    expect(keyProblem('pk_test_abc123', BOTH)).to.equal(null)
    expect(keyProblem('sk_test_abc123', ['server'])).to.equal(null)
    expect([testKeyKind('sk_test_a'), testKeyKind('pk_test_a')]).to.deep.equal(BOTH)
    for (const key of ['sk_live_abc123', 'pk_live_abc123']) {
      expect(keyProblem(key, BOTH)).to.match(/live key/)
      expect(testKeyKind(key)).to.equal(undefined)
    }
    expect(keyProblem('', BOTH)).to.match(/Paste a test key/)
    expect(keyProblem('pk_test_abc123', ['server'])).to.match(/server key/)
    for (const text of ['hello', 'Bearer sk_test_a', 'sk_test_', 'sk_test_a\nb'])
      expect(keyProblem(text, BOTH)).to.match(/no test key/)
  })
})

describe('the request of a call that is tried', () => {
  it('has the filled fields in their places, and no empty ones', () => {
    const request = buildRequest('POST', '/api/v1/otp/send', 'sk_test_a', [
      { name: 'idempotency-key', in: 'header', value: 'k' },
      { name: 'recipient', in: 'body', value: '+15005550010' },
      { name: 'locale', in: 'body', value: '' },
    ])
    expect(request).to.deep.equal({
      url: '/api/v1/otp/send',
      method: 'POST',
      headers: { Authorization: 'Bearer sk_test_a', 'Content-Type': 'application/json', 'idempotency-key': 'k' },
      body: '{"recipient":"+15005550010"}',
    })
  })

  it('has an object in its body where JSON was filled in, and the text where it is none', () => {
    const bodyWith = (value: string) => {
      const { body } = buildRequest('POST', '/api/v1/otp/send', 'sk_test_a', [{ name: 'metadata', in: 'json', value }])
      return JSON.parse(body ?? '')
    }
    expect(bodyWith('{"order":"A-1042"}')).to.deep.equal({ metadata: { order: 'A-1042' } })
    expect(bodyWith('order A-1042')).to.deep.equal({ metadata: 'order A-1042' })
    expect(bodyWith('')).to.deep.equal({})
  })

  it('encodes what stands in the path and in the query, and is not made while a part of its path is missing', () => {
    const fields = [
      { name: 'otp_id', in: 'path' as const, value: 'otp_1/../x' },
      { name: 'q', in: 'query' as const, value: 'a b' },
    ]
    expect(buildRequest('GET', '/api/v1/otp/{otp_id}', 'sk_test_a', fields)).to.deep.include({
      url: '/api/v1/otp/otp_1%2F..%2Fx?q=a+b',
      body: null,
      headers: { Authorization: 'Bearer sk_test_a' },
    })
    expect(pathProblem([{ name: 'otp_id', in: 'path', value: '' }])).to.match(/^Fill in otp_id/)
    expect(pathProblem([{ name: 'otp_id', in: 'path', value: 'otp_1' }])).to.equal(null)
    expect(pathProblem([{ name: 'locale', in: 'body', value: '' }])).to.equal(null)
  })
})

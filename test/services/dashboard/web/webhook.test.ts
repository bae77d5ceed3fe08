import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import { JAVASCRIPT_SIGNATURE_SAMPLE } from '../../../../services/domain/webhooks/signature-sample.ts'
import { signatureHeaders } from '../../../../services/domain/webhooks/signed-event.ts'

describe('a webhook in words', () => {})

describe('the sample that verifies a signature', () => {
  const secret = 'whsec_c2VjcmV0IG9mIHRoZSBob29rcw=='
  const body = Buffer.from('{"id":"evt_1","type":"otp.approved","payload":{}}')
  const signed = (at: number): Record<string, string> => ({
    ...signatureHeaders({ id: 'evt_1', body, at, secrets: [secret] }),
  })
  let isGenuine: (rawBody: Buffer, headers: Record<string, string>, secret: string) => boolean
  before(async () => {
    ;({ isGenuine } = await import(`data:text/javascript,${encodeURIComponent(JAVASCRIPT_SIGNATURE_SAMPLE)}`))
  })

  it('accepts what Countersign signs', () => {
    expect(isGenuine(body, signed(Date.now()), secret)).to.equal(true)
  })

  it('refuses another body, another secret, no signature and a stale timestamp', () => {
    const headers = signed(Date.now())
    expect(isGenuine(Buffer.from('{}'), headers, secret)).to.equal(false)
    expect(isGenuine(body, headers, 'whsec_other')).to.equal(false)
    expect(isGenuine(body, {}, secret)).to.equal(false)
    expect(isGenuine(body, signed(Date.now() - 600_000), secret)).to.equal(false)
  })
})

import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { isBase64 } from '../../../../infra/base64.ts'
import { webhookSecret } from '../../../../services/domain/tenancy/value-schemas.ts'
import { signatureHeaders } from '../../../../services/domain/webhooks/signed-event.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
const BODY = '{"id":"evt_1","type":"otp.approved","payload":{"otp_id":"otp_1","status":"approved"}}'

const signed = (more: Partial<Parameters<typeof signatureHeaders>[0]> = {}) =>
  signatureHeaders({ id: 'evt_1', body: BODY, at: Date.now(), secrets: [SECRET], ...more })

describe('the signature of a webhook', () => {
  describe('in X-Webhook-Signature', () => {
    it('is the hex HMAC-SHA256 of timestamp, dot and body, keyed with the literal bytes of the secret', () => {
      // printf '1700000000.{"id":"evt_1"}' | openssl dgst -sha256 -hmac 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
      const headers = signed({ body: '{"id":"evt_1"}', at: 1_700_000_000_999 })
      expect(headers['x-webhook-timestamp']).to.equal('1700000000')
      expect(headers['x-webhook-signature']).to.equal(
        '211d3e17c85047207929a88be720ec275a19e8522b050ad76d8f99d78305a21c',
      )
    })

    it('is made with the current secret alone', () => {
      const at = Date.now()
      expect(signed({ at, secrets: [SECRET, OTHER] })['x-webhook-signature']).to.equal(
        signed({ at })['x-webhook-signature'],
      )
    })

    it('is made over the bytes of the body, also if they are not UTF-8', () => {
      const body = new Uint8Array([0xef, 0xbb, 0xbf, 0xff, 0x00, 0x7b])
      const headers = signed({ body, at: 1_700_000_000_000 })
      const expected = createHmac('sha256', SECRET)
        .update(Buffer.concat([Buffer.from('1700000000.'), body]))
        .digest('hex')
      expect(headers['x-webhook-signature']).to.equal(expected)
    })
  })

  describe('of Standard Webhooks', () => {
    it('is that of the example in the specification, and verified by the public library', () => {
      const headers = signatureHeaders({
        id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        body: '{"test": 2432232314}',
        at: 1_614_265_330_000,
        secrets: [SECRET],
      })
      expect(headers).to.deep.include({
        'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'webhook-timestamp': '1614265330',
        'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      })
      expect(new Webhook(SECRET).verify(BODY, signed())).to.deep.equal(JSON.parse(BODY))
    })

    it('is verified with either secret during a rotation', () => {
      const headers = signed({ secrets: [SECRET, OTHER] })
      expect(headers['webhook-signature']?.split(' ')).to.have.lengthOf(2)
      for (const secret of [SECRET, OTHER]) expect(new Webhook(secret).verify(BODY, headers)).to.be.an('object')
      expect(() => new Webhook('whsec_c29tZW9uZSBlbHNl').verify(BODY, headers)).to.throw('No matching signature')
    })

    it('is verified by the public library with every secret that an operator can set', () => {
      const encoded = fc.uint8Array({ minLength: 2, maxLength: 40 }).map(bytes => Buffer.from(bytes).toString('base64'))
      const secret = fc.oneof(
        encoded.map(one => `whsec_${one}`),
        encoded,
        encoded.map(one => one.replace(/=+$/, '')),
        fc.string({ minLength: 8, maxLength: 40, unit: 'grapheme-ascii' }),
        fc.string({ minLength: 2, maxLength: 40, unit: 'grapheme' }).map(one => `whsec_${one}`),
      )
      fc.assert(
        fc.property(secret, one => {
          fc.pre(webhookSecret.safeParse(one).success)
          const verify = (library: Webhook) => library.verify(BODY, signed({ secrets: [one] }))
          expect(
            verify(isBase64(one.replace(/^whsec_/, '')) ? new Webhook(one) : new Webhook(one, { format: 'raw' })),
          ).to.deep.equal(JSON.parse(BODY))
        }),
      )
    })
  })
})

// The two signatures of Amazon SES: ours, against the example of AWS's documents, and that of SNS.
import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import type { Outbound } from '../../../../infra/outbound/outbound.ts'
import { BadSignature, type Provider } from '../../../../services/channel/provider.ts'
import { asciiSender, quotedSender } from '../../../../services/channel/providers/mail-address.ts'
import { signedHeaders } from '../../../../services/channel/providers/ses.signature.ts'
import { createSesProvider } from '../../../../services/channel/providers/ses.ts'
import { resolveProvider } from '../../../../services/domain/tenancy/providers.ts'
import {
  CALLBACK_URL,
  callbackOf,
  type TestProviderDeps,
  testProviderDeps,
} from '../../../support/vendors/provider-fixtures.ts'
import { CERTIFICATE_URL, CONFIRMATION, SUBSCRIBE_URL, signedBySns, TOPIC, withSns } from './documented-vendors/ses.ts'

describe('Signature Version 4', () => {
  it('is that of the example in the documents of AWS', () => {
    const { authorization } = signedHeaders({
      method: 'GET',
      url: new URL('https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08'),
      contentType: 'application/x-www-form-urlencoded; charset=utf-8',
      body: '',
      region: 'us-east-1',
      service: 'iam',
      access_key_id: 'AKIDEXAMPLE',
      secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
      now: Date.UTC(2015, 7, 30, 12, 36),
    })
    expect(authorization).to.equal(
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
    )
  })
})

describe('a sender', () => {
  it('has its name in quotes, so that a comma or a quotation mark does not end it', () => {
    for (const write of [quotedSender, asciiSender]) {
      expect(write('a@shop.example')).to.equal('a@shop.example')
      expect(write('<a@shop.example>')).to.equal('a@shop.example')
      expect(write('Shop, Inc. <a@shop.example>')).to.equal('"Shop, Inc." <a@shop.example>')
      expect(write('"Shop, Inc." <a@shop.example>')).to.equal('"Shop, Inc." <a@shop.example>')
      expect(write('The "Shop" today <a@shop.example>')).to.equal('"The \\"Shop\\" today" <a@shop.example>')
    }
  })

  it('keeps a long name in other letters than ASCII, in encoded words of at most 75 characters', () => {
    const name = 'Überprüfungsstelle für Käufe – 確認コード'.repeat(3)
    const words = asciiSender(`${name} <a@shop.example>`).replace(' <a@shop.example>', '').split(' ')
    expect(words.map(({ length }) => length).filter(length => length > 75)).to.deep.equal([])
    const texts = words.map(word => Buffer.from(/^=\?UTF-8\?B\?(.+)\?=$/.exec(word)?.[1] ?? '', 'base64').toString())
    expect(texts.join('')).to.equal(name)
  })
})

describe('the callbacks of an SNS topic', () => {
  let deps: TestProviderDeps
  let called: string[]
  let provider: Provider

  beforeEach(() => {
    deps = testProviderDeps()
    called = []
    provider = createProvider(withSns(deps.outbound, called))
  })
  afterEach(() => deps.outbound.close())

  function createProvider(outbound: Outbound): Provider {
    const keys = { access_key_id: 'a', secret_access_key: 's' }
    const least = { ...keys, region: 'eu-west-1', from: 'a@b.example', topic_arn: TOPIC }
    const { config } = resolveProvider('ses', least) as Extract<ReturnType<typeof resolveProvider>, { type: 'ses' }>
    return createSesProvider({ config }, { ...deps, outbound })
  }
  async function receive(body: string) {
    const callback = callbackOf({ method: 'POST', url: CALLBACK_URL, headers: {}, body })
    await provider.prepareCallback?.(callback, deps.clock.now())
    return provider.parseCallback?.(callback, deps.clock.now())
  }
  async function isRefused(body: string): Promise<void> {
    const outcome = await receive(body).catch((error: unknown) => error)
    expect(outcome).to.be.instanceOf(BadSignature)
  }

  for (const SignatureVersion of ['1', '2'])
    it(`have their certificate fetched once: signature version ${SignatureVersion}`, async () => {
      for (let time = 0; time < 3; time += 1)
        expect(await receive(signedBySns({ Message: 'text', SignatureVersion }, deps.clock.now()))).to.deep.equal([])
      expect(called).to.deep.equal([CERTIFICATE_URL])
    })

  it('confirm the subscription once they are proved, and only at SNS in the region of the topic', async () => {
    const signed = (SubscribeURL: string, over = {}) =>
      signedBySns({ ...CONFIRMATION, SubscribeURL }, deps.clock.now(), over)
    expect(await receive(signed(SUBSCRIBE_URL))).to.deep.equal([])
    expect(called).to.deep.equal([CERTIFICATE_URL, SUBSCRIBE_URL])
    await receive(signed('https://sns.eu-west-1.amazonaws.com.evil.example/?Action=ConfirmSubscription'))
    await isRefused(signed(SUBSCRIBE_URL, { Token: 'another' }))
    expect(called).to.have.lengthOf(2)
  })

  it('are to come again while SNS does not answer with its certificate, but not when there is no such certificate', async () => {
    let status = 503
    provider = createProvider({
      ...deps.outbound,
      request: async () => ({ status, headers: {}, body: Buffer.from('') }),
    })
    const outcome = await receive(signedBySns({ Message: 'text' }, deps.clock.now())).catch((error: unknown) => error)
    expect(outcome).to.be.instanceOf(Error).and.not.instanceOf(BadSignature)
    status = 404
    await isRefused(signedBySns({ Message: 'text' }, deps.clock.now()))
  })

  it('fetch no certificate from anywhere else, nor for another topic', async () => {
    const now = deps.clock.now()
    for (const SigningCertURL of [
      'https://sns.eu-west-1.amazonaws.com.evil.example/SimpleNotificationService-00.pem',
      'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-00.pem',
      'http://sns.eu-west-1.amazonaws.com/SimpleNotificationService-00.pem',
      'https://sns.eu-west-1.amazonaws.com/../bucket/SimpleNotificationService-00.pem',
      'https://sns.eu-west-1.amazonaws.com@evil.example/SimpleNotificationService-00.pem',
    ])
      await isRefused(signedBySns({ Message: 'text' }, now, { SigningCertURL }))
    await isRefused(signedBySns({ Message: 'text', TopicArn: `${TOPIC}2` }, now))
    expect(called).to.deep.equal([])
  })
})

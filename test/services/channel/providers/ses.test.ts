// The two signatures of Amazon SES: ours, against the example of AWS's documents, and that of SNS.
import { expect } from 'chai'
import { BadSignature, type Provider } from '../../../../services/channel/provider.ts'
import { signedHeaders } from '../../../../services/channel/providers/ses.signature.ts'
import { createSesProvider } from '../../../../services/channel/providers/ses.ts'
import { resolveProvider } from '../../../../services/domain/tenancy/providers.ts'
import {
  CALLBACK_URL,
  callbackOf,
  type TestProviderDeps,
  testProviderDeps,
} from '../../../support/vendors/provider-fixtures.ts'
import { CERTIFICATE_URL, signedBySns, TOPIC, withSns } from './documented-vendors/ses.ts'

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

describe('the callbacks of an SNS topic', () => {
  const SUBSCRIBE_URL = 'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=x&Token=2336412f37'
  const confirmation = {
    Type: 'SubscriptionConfirmation',
    Message: 'You have chosen to subscribe',
    Token: '2336412f37',
  }
  let deps: TestProviderDeps
  let called: string[]
  let provider: Provider

  beforeEach(() => {
    deps = testProviderDeps()
    called = []
    const least = {
      region: 'eu-west-1',
      access_key_id: 'a',
      secret_access_key: 's',
      from: 'a@b.example',
      topic_arn: TOPIC,
    }
    const { config } = resolveProvider('ses', least) as Extract<ReturnType<typeof resolveProvider>, { type: 'ses' }>
    provider = createSesProvider({ config }, { ...deps, outbound: withSns(deps.outbound, called) })
  })
  afterEach(() => deps.outbound.close())

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
      signedBySns({ ...confirmation, SubscribeURL }, deps.clock.now(), over)
    expect(await receive(signed(SUBSCRIBE_URL))).to.deep.equal([])
    expect(called).to.deep.equal([CERTIFICATE_URL, SUBSCRIBE_URL])
    await receive(signed('https://sns.eu-west-1.amazonaws.com.evil.example/?Action=ConfirmSubscription'))
    await isRefused(signed(SUBSCRIBE_URL, { Token: 'another' }))
    expect(called).to.have.lengthOf(2)
  })

  it('fetch no certificate from anywhere else, nor for another topic', async () => {
    const now = deps.clock.now()
    for (const SigningCertURL of [
      'https://evil.example/SimpleNotificationService-00.pem',
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

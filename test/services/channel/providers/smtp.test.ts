import { generateKeyPairSync } from 'node:crypto'
import { expect } from 'chai'
import { createOutbound } from '../../../../infra/outbound/guarded-outbound.ts'
import { ForbiddenTarget, NotSent, type Outbound } from '../../../../infra/outbound/outbound.ts'
import {
  type Provider,
  type ProviderDeps,
  ProviderFault,
  RecipientFault,
  UnknownOutcome,
} from '../../../../services/channel/provider.ts'
import { openSession, SmtpFailure } from '../../../../services/channel/providers/smtp.session.ts'
import { createSmtpProvider, type SmtpOptions } from '../../../../services/channel/providers/smtp.ts'
import type { ProviderConfigs } from '../../../../services/domain/tenancy/provider-types/list.ts'
import { renderMessage } from '../../../../services/domain/texts/message-text.ts'
import { CA } from '../../../support/certificate.ts'
import { eventually } from '../../../support/eventually.ts'
import { checkDkim } from '../../../support/vendors/mime.ts'
import {
  CODE,
  DELIVERY_ID,
  renderedMessage,
  send,
  type TestProviderDeps,
  testProviderDeps,
  thrownBy,
} from '../../../support/vendors/provider-fixtures.ts'
import { type MailServer, type MailServerOptions, type Stage, startMailServer } from '../../../support/vendors/smtp.ts'

type Config = ProviderConfigs['smtp']

const RECIPIENT = 'ada@reader.example'
const NAME = 'hooks.countersign.test'
const LOGIN = { user: 'shop', pass: 'a pass of a test' }

const PLAIN = renderedMessage({ recipient: RECIPIENT, subject: 's', html: null })
const mail = (more: Partial<{ recipient: string; locale: string; app: string }> = {}) => {
  const { locale = 'en', app = 'Shop' } = more
  const words = renderMessage({ channel: 'email', locale, app, code: CODE, minutes: 10, ending: null })
  return renderedMessage({ recipient: more.recipient ?? RECIPIENT, locale, ...words })
}

describe('SMTP', () => {
  let deps: TestProviderDeps
  const opened: { close(): unknown }[] = []

  beforeEach(() => {
    deps = testProviderDeps()
  })
  afterEach(async () => {
    for (const closable of opened.splice(0).toReversed()) await closable.close()
    await deps.outbound.close()
  })

  const startServer = async (options?: MailServerOptions): Promise<MailServer> => {
    const server = await startMailServer(options)
    opened.push(server)
    return server
  }
  const createProvider = (
    { port }: MailServer,
    more: Partial<Config> = {},
    over: Partial<ProviderDeps> = {},
    options: SmtpOptions = {},
  ): Provider => {
    const config: Config = {
      host: '127.0.0.1',
      port,
      secure: false,
      user: null,
      pass: null,
      dkim: null,
      from: 'Shop & Söhne <otp@shop.example>',
      ...more,
    }
    const provider = createSmtpProvider({ config }, { ...deps, ...over }, { ca: CA, ...options })
    opened.push({ close: () => provider.close?.() })
    return provider
  }
  /** Dependencies with this function in place of DNS. */
  const withLookup = (resolve: (host: string) => string | Error): Partial<ProviderDeps> => ({
    outbound: {
      ...deps.outbound,
      resolve: async host => {
        const answer = resolve(host)
        if (answer instanceof Error) throw answer
        return answer
      },
    } satisfies Outbound,
  })

  describe('a mail', () => {
    it('has a text and an HTML part, and goes from the app to the recipient', async () => {
      const server = await startServer()
      const message = mail({ locale: 'ar', app: '店 & متجر 😀' })
      expect(await send(createProvider(server), message)).to.deep.equal({ reference: `${DELIVERY_ID}@shop.example` })
      const [received] = server.mails
      expect(received?.from).to.equal('otp@shop.example')
      expect(received?.to).to.deep.equal([RECIPIENT])
      expect(received?.headers).to.include({
        from: 'Shop & Söhne <otp@shop.example>',
        to: RECIPIENT,
        subject: message.subject,
        'message-id': `<${DELIVERY_ID}@shop.example>`,
        'auto-submitted': 'auto-generated',
        date: new Date(deps.clock.now()).toUTCString().replace('GMT', '+0000'),
      })
      expect(received?.headers['content-type']).to.match(/^multipart\/alternative/)
      expect(received?.bodies).to.deep.equal({ 'text/plain': message.text, 'text/html': message.html?.trimEnd() })
      expect(received?.raw.every(byte => byte < 0x80)).to.equal(true)
    })

    it('goes to internationalized domains by their ASCII name', async () => {
      const server = await startServer()
      await send(createProvider(server, { from: 'otp@bücher.example' }), mail({ recipient: 'ada@почта.example' }))
      expect(server.mails[0]).to.deep.include({ from: 'otp@xn--bcher-kva.example', to: ['ada@xn--80a1acny.example'] })
    })

    it('has no injected header, even if its content contains line breaks', async () => {
      const server = await startServer()
      const evil = 'x\r\nBcc: eve@evil.example\r\n\r\nbody'
      const message = { ...mail(), subject: evil, text: '\r\n.\r\nMAIL FROM:<eve@evil.example>\r\n' }
      await send(createProvider(server, { from: '"Eve, \\" Bcc: x" <otp@shop.example>' }), message)
      const [received] = server.mails
      expect(Object.keys(received?.headers ?? {})).to.have.members([
        'from',
        'to',
        'subject',
        'message-id',
        'date',
        'auto-submitted',
        'mime-version',
        'content-type',
      ])
      expect(received?.to).to.deep.equal([RECIPIENT])
      expect(server.mails).to.have.lengthOf(1)
    })

    it('goes to one recipient only, even if the address contains line breaks', async () => {
      const server = await startServer()
      for (const recipient of ['a@b.example>\r\nRCPT TO:<eve@evil.example', 'a@b.example, eve@evil.example']) {
        await send(createProvider(server), mail({ recipient })).catch(() => {})
        expect(server.commands.filter(line => line.startsWith('RCPT TO:<eve'))).to.deep.equal([])
      }
    })
  })

  describe('with a DKIM key', () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const pem = (key = privateKey) => key.export({ type: 'pkcs8', format: 'pem' }).toString()
    const dkim = { domain: 'shop.example', selector: 's1', private_key: pem() }

    it('signs the mail, and only with a key', async () => {
      const server = await startServer()
      await send(createProvider(server, { dkim }), mail({ locale: 'ar' }))
      const check = checkDkim(server.mails[0]?.raw ?? Buffer.alloc(0), publicKey)
      expect(check).to.deep.include({ domain: 'shop.example', selector: 's1', ok: true })
      expect(check?.signed).to.include.members(['from', 'to', 'subject', 'date', 'message-id'])
      await send(createProvider(server), mail())
      expect(checkDkim(server.mails[1]?.raw ?? Buffer.alloc(0), publicKey)).to.equal(null)
    })

    const elliptic = generateKeyPairSync('ed25519').privateKey
    it('sends no unsigned mail where the key cannot sign', async () => {
      const server = await startServer()
      for (const private_key of ['none', pem(elliptic), publicKey.export({ type: 'spki', format: 'pem' }).toString()]) {
        const fault = await thrownBy(send(createProvider(server, { dkim: { ...dkim, private_key } }), mail()))
        expect(fault).to.be.instanceOf(ProviderFault)
        expect([fault.message, server.connectionsMade()]).to.deep.equal(['its DKIM key is no RSA key in PEM', 0])
      }
    })
  })

  describe('a connection', () => {
    for (const [how, options, secure] of [
      ['from the first byte if the config says so', { tls: 'secure' }, true],
      ['if the server offers STARTTLS', { tls: 'starttls' }, false],
      ['if the server offers STARTTLS, without pipelining', { tls: 'starttls', pipelining: false }, false],
    ] as const)
      it(`is encrypted ${how}`, async () => {
        const server = await startServer({ ...options, auth: LOGIN })
        await send(createProvider(server, { secure, ...LOGIN }), mail())
        expect(server.mails[0]).to.include({ encrypted: true, user: 'shop' })
      })

    it('is refused to a server with an untrusted certificate', async () => {
      const server = await startServer({ tls: 'starttls' })
      const config = { host: '127.0.0.1', port: server.port, secure: false, user: null, pass: null, dkim: null }
      const distrusting = createSmtpProvider({ config: { ...config, from: 'otp@shop.example' } }, deps)
      expect(await thrownBy(send(distrusting, mail()))).to.be.instanceOf(ProviderFault)
      expect(server.mails).to.deep.equal([])
    })

    it('is refused to an address that may not be called, and to an unknown name', async () => {
      const server = await startServer()
      for (const refusal of [new ForbiddenTarget('private'), new NotSent('no such name')]) {
        const over = withLookup(() => refusal)
        expect(await thrownBy(send(createProvider(server, {}, over), mail()))).to.be.instanceOf(ProviderFault)
      }
      const outbound = createOutbound({ privateTargets: [] })
      for (const host of ['127.0.0.1', '::1', '2130706433']) {
        const fault = await thrownBy(send(createProvider(server, { host }, { outbound }), mail()))
        expect(fault, host).to.be.instanceOf(ProviderFault)
      }
      await outbound.close()
      expect(server.connectionsMade()).to.equal(0)
    })

    describe('to a server on the public internet', () => {
      /** The tests' servers are on loopback, which is taken for public here. */
      const asPublic: SmtpOptions = { isPrivateAddress: () => false }

      it('sends nothing in the clear, nor to one that does not even know EHLO', async () => {
        for (const knowsEhlo of [true, false]) {
          const server = await startServer({ auth: LOGIN })
          if (!knowsEhlo) server.next({ at: 'ehlo', says: '502 5.5.2 Not known here' })
          const fault = await thrownBy(send(createProvider(server, LOGIN, {}, asPublic), mail()))
          expect(fault).to.be.instanceOf(ProviderFault)
          expect(fault.message).to.include('it does not offer TLS, which a mail server on the public internet must')
          expect(server.commands.filter(line => /^(AUTH|MAIL)/.test(line))).to.deep.equal([])
          expect(server.mails).to.deep.equal([])
        }
      })

      for (const tls of ['secure', 'starttls'] as const)
        it(`is made to the address that was checked, and verified by the name: ${tls}`, async () => {
          const server = await startServer({ tls })
          const lookedUp: string[] = []
          const over = withLookup(host => {
            lookedUp.push(host)
            return '127.0.0.1'
          })
          const config = { secure: tls === 'secure' }
          await send(createProvider(server, { ...config, host: NAME }, over, asPublic), mail())
          expect(server.mails[0]).to.include({ encrypted: true })
          const wrongName = { ...config, host: 'other.countersign.test' }
          const fault = await thrownBy(send(createProvider(server, wrongName, over, asPublic), mail()))
          expect(fault).to.be.instanceOf(ProviderFault)
          expect(fault.message).to.include('its certificate cannot be verified')
          expect(server.mails).to.have.lengthOf(1)
          expect(lookedUp).to.deep.equal([NAME, 'other.countersign.test'])
        })

      it('says so when the port speaks no TLS', async () => {
        const server = await startServer()
        const fault = await thrownBy(send(createProvider(server, { secure: true }, {}, asPublic), mail()))
        expect(fault).to.be.instanceOf(ProviderFault)
        expect(fault.message).to.include('it does not speak TLS on this port')
        expect(server.mails).to.deep.equal([])
      })

      it('is told by the address of each connection, not by the name', async () => {
        const server = await startServer()
        const [privateAddress, publicAddress] = ['::ffff:127.0.0.1', '127.0.0.1']
        let address = privateAddress
        const provider = createProvider(
          server,
          { host: NAME },
          withLookup(() => address),
          { isPrivateAddress: one => one === privateAddress },
        )
        await send(provider, mail())
        server.hangUp()
        address = publicAddress
        const fault = await thrownBy(send(provider, mail()))
        expect(fault.message).to.include('it does not offer TLS')
        expect(server.mails).to.have.lengthOf(1)
      })
    })
  })
})

const MAX_CONNECTIONS = 10

describe('SMTP connections', () => {
  let deps: TestProviderDeps
  let server: MailServer
  let provider: Provider

  beforeEach(async () => {
    deps = testProviderDeps()
    server = await startMailServer()
    const place = { host: '127.0.0.1', port: server.port, secure: false, from: 'otp@shop.example' }
    provider = createSmtpProvider({ config: { ...place, user: null, pass: null, dkim: null } }, deps)
  })
  afterEach(async () => {
    provider.close?.()
    await server.close()
    await deps.outbound.close()
  })

  const sendAtOnce = (count: number) => Promise.all(Array.from({ length: count }, () => send(provider, PLAIN)))
  const hangAllConnections = () =>
    Array.from({ length: MAX_CONNECTIONS }, () => ({ at: 'body', does: 'hang' }) as const)

  it('are as many as are needed up to a limit; further mails wait', async () => {
    await sendAtOnce(35)
    expect(server.mails).to.have.lengthOf(35)
    expect(server.connectionsMade()).to.equal(MAX_CONNECTIONS)
  })

  it('are closed with QUIT after fifteen idle seconds', async () => {
    await send(provider, PLAIN)
    await deps.clock.advance(14_999)
    await send(provider, PLAIN)
    await deps.clock.advance(14_999)
    expect(server.connectionsOpen()).to.equal(1)
    await deps.clock.advance(1)
    await eventually(() => expect(server.connectionsOpen()).to.equal(0))
    expect(server.commands.at(-1)).to.equal('QUIT')
    await send(provider, PLAIN)
    expect([server.mails.length, server.connectionsMade()]).to.deep.equal([3, 2])
  })

  it('are kept for the next mail, and closed after a hundred', async () => {
    for (let nth = 0; nth < 101; nth += 1) await send(provider, PLAIN)
    expect([server.mails.length, server.connectionsMade()]).to.deep.equal([101, 2])
  })

  it('that the server has closed while idle are replaced', async () => {
    await send(provider, PLAIN)
    server.hangUp()
    await send(provider, PLAIN)
    expect([server.mails.length, server.connectionsMade()]).to.deep.equal([2, 2])
  })

  for (const fault of [{ does: 'reset' }, { does: 'close' }, { says: '421 4.4.2 Timeout' }] as const)
    it(`that turn out to be closed when they are used again are replaced: ${Object.values(fault)}`, async () => {
      await send(provider, PLAIN)
      server.next({ at: 'mail', ...fault })
      await send(provider, PLAIN)
      expect([server.mails.length, server.connectionsMade()]).to.deep.equal([2, 2])
    })

  it('are not kept after a fault, and not replaced where the server closes them when they are new', async () => {
    server.next({ at: 'mail', does: 'close' })
    expect(await thrownBy(send(provider, PLAIN))).to.be.instanceOf(ProviderFault)
    expect(server.connectionsMade()).to.equal(1)
    server.next({ at: 'rcpt', says: '550 5.1.1 No such user' })
    await thrownBy(send(provider, PLAIN))
    await eventually(() => expect(server.connectionsOpen()).to.equal(0))
    await send(provider, PLAIN)
    expect(server.mails).to.have.lengthOf(1)
  })

  it('that hang delay a waiting mail only until its caller aborts', async () => {
    server.next(...hangAllConnections())
    const aborting = new AbortController()
    const hanging = Array.from({ length: MAX_CONNECTIONS }, () => thrownBy(send(provider, PLAIN, aborting.signal)))
    await eventually(() => expect(server.mails).to.have.lengthOf(MAX_CONNECTIONS))
    const impatient = new AbortController()
    const gaveUp = thrownBy(send(provider, PLAIN, impatient.signal))
    const patient = send(provider, PLAIN)
    impatient.abort()
    expect(await gaveUp).to.be.instanceOf(ProviderFault)
    aborting.abort()
    await Promise.all([patient, ...hanging])
    expect(server.mails).to.have.lengthOf(MAX_CONNECTIONS + 1)
  })

  it('are closed when the provider is closed: at once, or after their mail', async () => {
    await send(provider, PLAIN)
    provider.close?.()
    await eventually(() => expect(server.connectionsOpen()).to.equal(0))
    server.next({ at: 'body', does: 'hang' })
    const sending = send(provider, PLAIN)
    await eventually(() => expect(server.mails).to.have.lengthOf(2))
    provider.close?.()
    server.release()
    await sending
    await eventually(() => expect(server.connectionsOpen()).to.equal(0))
  })
})

for (const pipelining of [true, false])
  describe(`an SMTP fault, ${pipelining ? 'with pipelining' : 'without pipelining'}`, () => {
    let deps: TestProviderDeps
    let server: MailServer

    beforeEach(async () => {
      deps = testProviderDeps()
      server = await startMailServer({ pipelining, auth: LOGIN })
    })
    afterEach(async () => {
      await server.close()
      await deps.outbound.close()
    })

    const createProvider = (more: Partial<ProviderConfigs['smtp']> = {}) => {
      const config = { host: '127.0.0.1', port: server.port, secure: false, ...LOGIN, dkim: null }
      return createSmtpProvider({ config: { ...config, from: 'otp@shop.example', ...more } }, deps)
    }
    const faultAfterReply = async (at: Stage, says: string): Promise<Error> => {
      server.next({ at, says })
      return thrownBy(send(createProvider(), PLAIN))
    }

    const replies: [at: Stage, says: string, fault: typeof RecipientFault | typeof ProviderFault][] = [
      ['connect', '421 4.3.2 Busy', ProviderFault],
      ['ehlo', '421 4.3.2 Busy', ProviderFault],
      ['auth', '535 5.7.8 Authentication credentials invalid', ProviderFault],
      ['mail', '421 4.3.2 Going down', ProviderFault],
      ['mail', '550 5.1.8 Sender has no MX', ProviderFault],
      ['mail', '554 5.7.1 Not from you', ProviderFault],
      ['rcpt', '421 4.3.2 Going down', ProviderFault],
      ['rcpt', '450 4.2.0 Greylisted', ProviderFault],
      ['rcpt', '530 5.7.0 Authentication required', ProviderFault],
      ['rcpt', '550 5.7.1 Relaying denied', ProviderFault],
      ['rcpt', '554 Service unavailable; client host blocked', ProviderFault],
      ['rcpt', '521 Host does not accept mail', ProviderFault],
      ['rcpt', '550 No such user here', RecipientFault],
      ['rcpt', '550 5.1.1 <ada@reader.example>: unknown', RecipientFault],
      ['rcpt', '552 5.2.2 Mailbox full', RecipientFault],
      ['rcpt', '501 5.1.3 Bad address', RecipientFault],
      ['rcpt', '551 User not local', RecipientFault],
      ['rcpt', '553 Mailbox name not allowed', RecipientFault],
      ['rcpt', '556 5.1.10 The domain takes no mail', RecipientFault],
      ['data', '554 5.5.1 No valid recipients', ProviderFault],
      ['body', '550 5.7.1 Looks like spam', ProviderFault],
      ['body', '554 Transaction failed', ProviderFault],
      ['body', '550 5.1.1 No such user', RecipientFault],
      ['body', '552 5.2.2 Mailbox full', RecipientFault],
    ]
    it('is that of the stage and the code of a reply, whose code and words are kept beside it', async () => {
      for (const [at, says, fault] of replies) {
        const thrown = await faultAfterReply(at, says)
        expect(thrown, `${says} at ${at}`).to.be.instanceOf(fault)
        const [, vendorCode, vendorText = ''] = /^(\d{3}(?: \d\.\d\.\d+)?) (.*)$/.exec(says) ?? []
        expect(thrown).to.have.property('answer').that.deep.equals({ httpStatus: null, vendorCode, vendorText })
        expect(thrown.message).to.not.include(vendorText)
      }
      expect(server.mails).to.deep.equal([])
    })

    it('has the text of all lines of a reply', async () => {
      const fault = await faultAfterReply('rcpt', '550-5.1.1 The account does not exist.\r\n550 5.1.1 Check for typos')
      expect(fault).to.be.instanceOf(RecipientFault)
      expect((fault as RecipientFault).answer?.vendorText)
        .to.include('does not exist')
        .and.include('Check for typos')
    })

    it('is a ProviderFault for a wrong or missing password', async () => {
      expect(await thrownBy(send(createProvider({ pass: 'another' }), PLAIN))).to.be.instanceOf(ProviderFault)
      expect(await thrownBy(send(createProvider({ user: null, pass: null }), PLAIN))).to.be.instanceOf(ProviderFault)
    })

    for (const does of ['reset', 'close', 'hang'] as const)
      it(`is a ProviderFault before the mail, since nothing was sent: ${does}`, async () => {
        for (const at of ['connect', 'ehlo', 'auth', 'mail', 'rcpt', 'data'] as const) {
          server.next({ at, does })
          const aborting = new AbortController()
          const [made, said] = [server.connectionsMade(), server.commands.length]
          const sending = thrownBy(send(createProvider(), PLAIN, aborting.signal))
          if (does === 'hang') {
            await eventually(() => expect(hasReached(at, made, said)).to.equal(true))
            aborting.abort()
          }
          expect(await sending, at).to.be.instanceOf(ProviderFault)
          server.release()
          await eventually(() => expect(server.connectionsOpen()).to.equal(0))
        }
        expect(server.mails).to.deep.equal([])
      })
    const hasReached = (at: Stage, made: number, said: number): boolean =>
      at === 'connect'
        ? server.connectionsMade() > made
        : server.commands.slice(said).some(line => line.startsWith(at.toUpperCase()))

    it('is an UnknownOutcome: the connection ends within the mail or after it', async () => {
      for (const at of ['within', 'body'] as const)
        for (const does of ['reset', 'close'] as const) {
          server.next({ at, does })
          expect(await thrownBy(send(createProvider(), PLAIN)), `${does} ${at}`).to.be.instanceOf(UnknownOutcome)
        }
    })

    it('is an UnknownOutcome: aborted after the mail was sent', async () => {
      server.next({ at: 'body', does: 'hang' })
      const aborting = new AbortController()
      const sending = thrownBy(send(createProvider(), PLAIN, aborting.signal))
      await eventually(() => expect(server.mails).to.have.lengthOf(1))
      aborting.abort()
      expect(await sending).to.be.instanceOf(UnknownOutcome)
    })

    it('is an UnknownOutcome: an invalid reply to the mail', async () => {
      for (const says of ['hello', '999 what', '354 Go on', '\0\0\0'])
        expect(await faultAfterReply('body', says), says).to.be.instanceOf(UnknownOutcome)
    })

    it('is a ProviderFault, since nothing was sent: an invalid or endless reply before the mail', async () => {
      for (const at of ['connect', 'auth', 'mail', 'rcpt', 'data'] as const)
        expect(await faultAfterReply(at, 'hello'), at).to.be.instanceOf(ProviderFault)
      expect(await faultAfterReply('mail', `250-${'x'.repeat(100_000)}`)).to.be.instanceOf(ProviderFault)
    })

    it('is a ProviderFault, since nothing was sent: aborted before it began, or no server listens', async () => {
      const made = server.connectionsMade()
      expect(await thrownBy(send(createProvider(), PLAIN, AbortSignal.abort()))).to.be.instanceOf(ProviderFault)
      expect(server.connectionsMade()).to.equal(made)
      const { port } = server
      await server.close()
      expect(await thrownBy(send(createProvider({ port }), PLAIN))).to.be.instanceOf(ProviderFault)
      server = await startMailServer()
    })

    it('contains neither the recipient, nor the code, nor the password', async () => {
      for (const [at, says] of [
        ['rcpt', `550 5.1.1 <${RECIPIENT}> unknown, code ${CODE}`],
        ['auth', `535 ${LOGIN.pass} is wrong`],
        ['body', `554 ${CODE} to ${RECIPIENT}`],
      ] as const) {
        const { message, stack, cause } = await faultAfterReply(at, says)
        for (const secret of [RECIPIENT, CODE, LOGIN.pass]) expect(`${message}${stack}${cause}`).to.not.include(secret)
        expect(message).to.match(/^it answered \d{3}/)
      }
    })

    it('is raised by a server without TLS where TLS is required, before the password is sent', async () => {
      const { port } = server
      const place = { address: '127.0.0.1', servername: null, port, secure: false, ca: undefined }
      const opening = openSession({ ...place, tlsRequired: true, auth: LOGIN }, new AbortController().signal)
      expect(await thrownBy(opening)).to.be.instanceOf(SmtpFailure)
      expect(server.commands.filter(line => line.startsWith('AUTH'))).to.deep.equal([])
    })
  })

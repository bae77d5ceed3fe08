import { generateKeyPairSync } from 'node:crypto'
import { expect } from 'chai'
import { createOutbound } from '../../../../infra/outbound/guarded-outbound.ts'
import { ForbiddenTarget, NotSent, type Outbound } from '../../../../infra/outbound/outbound.ts'
import { type Provider, type ProviderDeps, ProviderFault } from '../../../../services/channel/provider.ts'
import { createSmtpProvider, type SmtpOptions } from '../../../../services/channel/providers/smtp.ts'
import type { ProviderConfigs } from '../../../../services/domain/tenancy/provider-types/list.ts'
import { renderMessage } from '../../../../services/domain/texts/message-text.ts'
import { CA } from '../../../support/certificate.ts'
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
import { type MailServer, type MailServerOptions, startMailServer } from '../../../support/vendors/smtp.ts'

type Config = ProviderConfigs['smtp']

const RECIPIENT = 'ada@reader.example'
const NAME = 'hooks.countersign.test'
const LOGIN = { user: 'shop', pass: 'a pass of a test' }

const mail = (more: Partial<{ recipient: string; locale: string; app: string }> = {}) => {
  const { locale = 'en', app = 'Shop' } = more
  const words = renderMessage({
    channel: 'email',
    locale,
    app,
    code: CODE,
    minutes: 10,
    ending: null,
  })
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
      const message = mail()
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
    })

    it('is transmitted in ASCII and arrives unchanged in every script', async () => {
      const server = await startServer()
      for (const locale of ['ar', 'ja', 'hi']) {
        const message = mail({ locale, app: '店 & متجر 😀' })
        await send(createProvider(server), message)
        const received = server.mails.at(-1)
        expect(received?.headers.subject).to.equal(message.subject)
        expect(received?.bodies).to.deep.equal({ 'text/plain': message.text, 'text/html': message.html?.trimEnd() })
        expect(received?.raw.every(byte => byte < 0x80)).to.equal(true)
      }
    })

    it('goes to internationalized domains by their ASCII name', async () => {
      const server = await startServer()
      await send(createProvider(server, { from: 'otp@bücher.example' }), mail({ recipient: 'ada@почта.example' }))
      expect(server.mails[0]).to.deep.include({ from: 'otp@xn--bcher-kva.example', to: ['ada@xn--80a1acny.example'] })
    })

    it('keeps lines that begin with a dot', async () => {
      const server = await startServer()
      const text = '.\n..\n.hidden\nend'
      await send(createProvider(server), renderedMessage({ recipient: RECIPIENT, subject: 's', html: null, text }))
      expect(server.mails[0]?.bodies).to.deep.equal({ 'text/plain': text })
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

    for (const locale of ['en', 'ar'])
      it(`signs the mail, in ${locale}`, async () => {
        const server = await startServer()
        await send(createProvider(server, { dkim }), mail({ locale }))
        const raw = server.mails[0]?.raw
        const check = raw && checkDkim(raw, publicKey)
        expect(check).to.deep.include({ domain: 'shop.example', selector: 's1', ok: true })
        expect(check?.signed).to.include.members(['from', 'to', 'subject', 'date', 'message-id'])
      })

    it('has a signature that no longer fits after a change', async () => {
      const server = await startServer()
      await send(createProvider(server, { dkim }), mail())
      const raw = server.mails[0]?.raw ?? Buffer.alloc(0)
      for (const [word, other] of [
        ['Subject: 739164', 'Subject: 739165'],
        ['739164 is your', '739165 is your'],
        ['otp@shop.example', 'otp@evil.example'],
      ] as const) {
        const changed = Buffer.from(raw.toString('latin1').replace(word, other), 'latin1')
        expect(changed.equals(raw), word).to.equal(false)
        expect(checkDkim(changed, publicKey)?.ok, word).to.equal(false)
      }
    })

    const elliptic = generateKeyPairSync('ed25519').privateKey
    for (const [title, private_key] of [
      ['no key', 'none'],
      ['a key of another kind', pem(elliptic)],
      ['a public key', publicKey.export({ type: 'spki', format: 'pem' }).toString()],
    ] as const)
      it(`sends no unsigned mail with ${title}`, async () => {
        const server = await startServer()
        const fault = await thrownBy(send(createProvider(server, { dkim: { ...dkim, private_key } }), mail()))
        expect(fault).to.be.instanceOf(ProviderFault)
        expect([fault.message, server.connectionsMade()]).to.deep.equal(['its DKIM key is no RSA key in PEM', 0])
      })

    it('signs only if there is a key', async () => {
      const server = await startServer()
      await send(createProvider(server), mail())
      expect(checkDkim(server.mails[0]?.raw ?? Buffer.alloc(0), publicKey)).to.equal(null)
    })
  })

  describe('a connection', () => {
    it('is encrypted from the first byte if the config says so', async () => {
      const server = await startServer({ tls: 'secure', auth: LOGIN })
      await send(createProvider(server, { secure: true, ...LOGIN }), mail())
      expect(server.mails[0]).to.include({ encrypted: true, user: 'shop' })
    })

    for (const pipelining of [true, false])
      it(`is encrypted if the server offers STARTTLS, ${pipelining ? 'with' : 'without'} pipelining`, async () => {
        const server = await startServer({ tls: 'starttls', auth: LOGIN, pipelining })
        await send(createProvider(server, LOGIN), mail())
        expect(server.mails[0]).to.include({ encrypted: true, user: 'shop' })
      })

    it('is made to the address that was checked, and checks the certificate for the name', async () => {
      const lookedUp: string[] = []
      const over = withLookup(host => {
        lookedUp.push(host)
        return '127.0.0.1'
      })
      for (const [tls, secure] of [
        ['secure', true],
        ['starttls', false],
      ] as const) {
        const server = await startServer({ tls })
        await send(createProvider(server, { host: NAME, secure }, over), mail())
        expect(server.mails[0]).to.include({ encrypted: true })
        const fault = await thrownBy(
          send(createProvider(server, { host: 'other.countersign.test', secure }, over), mail()),
        )
        expect(fault).to.be.instanceOf(ProviderFault)
        expect(server.mails).to.have.lengthOf(1)
      }
      expect(lookedUp).to.deep.equal([NAME, 'other.countersign.test', NAME, 'other.countersign.test'])
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
      for (const refusal of [new ForbiddenTarget('private'), new NotSent('no such name')])
        expect(
          await thrownBy(
            send(
              createProvider(
                server,
                {},
                withLookup(() => refusal),
              ),
              mail(),
            ),
          ),
        ).to.be.instanceOf(ProviderFault)
      const guarded = createOutbound({ privateTargets: [] })
      for (const host of ['127.0.0.1', 'localhost', '::1', '2130706433', '0x7f.1'])
        expect(
          await thrownBy(send(createProvider(server, { host }, { outbound: guarded }), mail())),
          host,
        ).to.be.instanceOf(ProviderFault)
      await guarded.close()
      expect(server.connectionsMade()).to.equal(0)
    })

    describe('to a server on the public internet', () => {
      /** The tests' servers are on loopback, which is taken for public here. */
      const asPublic: SmtpOptions = { isPrivateAddress: () => false }

      for (const [title, login] of [
        ['without a password', {}],
        ['with a password', LOGIN],
      ] as const)
        it(`sends nothing in the clear, ${title}`, async () => {
          const server = await startServer({ auth: LOGIN })
          const fault = await thrownBy(send(createProvider(server, login, {}, asPublic), mail()))
          expect(fault).to.be.instanceOf(ProviderFault)
          expect(fault.message).to.include('it does not offer TLS, which a mail server on the public internet must')
          expect(server.commands.map(line => line.split(' ')[0])).to.deep.equal(['EHLO', 'STARTTLS'])
          expect(server.mails).to.deep.equal([])
        })

      it('sends nothing to one that does not even know EHLO', async () => {
        const server = await startServer()
        server.next({ at: 'ehlo', says: '502 5.5.2 Not known here' })
        const fault = await thrownBy(send(createProvider(server, {}, {}, asPublic), mail()))
        expect(fault).to.be.instanceOf(ProviderFault)
        expect(fault.message).to.include('it does not offer TLS')
        expect(server.mails).to.deep.equal([])
      })

      for (const tls of ['secure', 'starttls'] as const)
        it(`is encrypted and verified, ${tls}`, async () => {
          const server = await startServer({ tls })
          const over = withLookup(() => '127.0.0.1')
          const config = { secure: tls === 'secure' }
          await send(createProvider(server, { ...config, host: NAME }, over, asPublic), mail())
          expect(server.mails[0]).to.include({ encrypted: true })
          const wrongName = { ...config, host: 'other.countersign.test' }
          const fault = await thrownBy(send(createProvider(server, wrongName, over, asPublic), mail()))
          expect(fault).to.be.instanceOf(ProviderFault)
          expect(fault.message).to.include('its certificate cannot be verified')
          expect(server.mails).to.have.lengthOf(1)
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

import { expect } from 'chai'
import { ProviderFault, RecipientFault, UnknownOutcome } from '../../../../services/channel/provider.ts'
import { openSession, SmtpFailure } from '../../../../services/channel/providers/smtp.session.ts'
import { createSmtpProvider } from '../../../../services/channel/providers/smtp.ts'
import type { ProviderConfigs } from '../../../../services/domain/tenancy/provider-types/list.ts'
import { eventually } from '../../../support/eventually.ts'
import {
  CODE,
  renderedMessage,
  send,
  type TestProviderDeps,
  testProviderDeps,
  thrownBy,
} from '../../../support/vendors/provider-fixtures.ts'
import { type MailServer, type Stage, startMailServer } from '../../../support/vendors/smtp.ts'

const RECIPIENT = 'ada@reader.example'
const LOGIN = { user: 'shop', pass: 'a pass of a test' }
const mail = renderedMessage({ recipient: RECIPIENT, subject: 's', html: null })

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
      return thrownBy(send(createProvider(), mail))
    }

    const replies: [at: Stage, says: string, fault: typeof RecipientFault | typeof ProviderFault][] = [
      ['connect', '421 4.3.2 Busy', ProviderFault],
      ['connect', '554 5.7.1 Your address is listed', ProviderFault],
      ['ehlo', '421 4.3.2 Busy', ProviderFault],
      ['auth', '535 5.7.8 Authentication credentials invalid', ProviderFault],
      ['auth', '454 4.7.0 Temporary authentication failure', ProviderFault],
      ['mail', '421 4.3.2 Going down', ProviderFault],
      ['mail', '451 4.3.0 Later', ProviderFault],
      ['mail', '530 5.7.0 Authentication required', ProviderFault],
      ['mail', '550 5.1.8 Sender has no MX', ProviderFault],
      ['mail', '553 5.1.7 Bad sender', ProviderFault],
      ['mail', '554 5.7.1 Not from you', ProviderFault],
      ['rcpt', '421 4.3.2 Going down', ProviderFault],
      ['rcpt', '450 4.2.0 Greylisted', ProviderFault],
      ['rcpt', '452 4.5.3 Too many', ProviderFault],
      ['rcpt', '503 5.5.1 MAIL first', ProviderFault],
      ['rcpt', '530 5.7.0 Authentication required', ProviderFault],
      ['rcpt', '550 5.7.1 Relaying denied', ProviderFault],
      ['rcpt', '554 5.7.1 Relay access denied', ProviderFault],
      ['rcpt', '554 Service unavailable; client host blocked', ProviderFault],
      ['rcpt', '521 Host does not accept mail', ProviderFault],
      ['rcpt', '550 No such user here', RecipientFault],
      ['rcpt', '550-5.1.1 The account does not exist.\r\n550 5.1.1 Check for typos', RecipientFault],
      ['rcpt', '550 5.1.1 <ada@reader.example>: unknown', RecipientFault],
      ['rcpt', '550 5.2.1 The account is disabled', RecipientFault],
      ['rcpt', '552 5.2.2 Mailbox full', RecipientFault],
      ['rcpt', '501 5.1.3 Bad address', RecipientFault],
      ['rcpt', '551 User not local', RecipientFault],
      ['rcpt', '553 Mailbox name not allowed', RecipientFault],
      ['rcpt', '556 5.1.10 The domain takes no mail', RecipientFault],
      ['data', '451 4.3.0 Later', ProviderFault],
      ['data', '554 5.5.1 No valid recipients', ProviderFault],
      ['body', '421 4.3.2 Going down', ProviderFault],
      ['body', '451 4.7.1 Try again', ProviderFault],
      ['body', '550 5.7.1 Looks like spam', ProviderFault],
      ['body', '554 Transaction failed', ProviderFault],
      ['body', '550 5.1.1 No such user', RecipientFault],
      ['body', '552 5.2.2 Mailbox full', RecipientFault],
    ]
    for (const [at, says, fault] of replies)
      it(`is a ${fault.name} for "${says.split('\r\n')[0]}" at ${at}`, async () => {
        expect(await faultAfterReply(at, says)).to.be.instanceOf(fault)
        expect(server.mails).to.deep.equal([])
      })

    for (const [says, vendorCode, vendorText] of [
      ['550 5.1.1 <ada@reader.example>: unknown', '550 5.1.1', '<ada@reader.example>: unknown'],
      ['550 No such user here', '550', 'No such user here'],
      ['450 4.2.0 Greylisted', '450 4.2.0', 'Greylisted'],
    ] as const)
      it(`keeps the server's code and words: ${says}`, async () => {
        const fault = await faultAfterReply('rcpt', says)
        expect(fault).to.have.property('answer').that.deep.equals({ httpStatus: null, vendorCode, vendorText })
        expect(fault.message).to.not.include(vendorText)
      })

    it('is a ProviderFault for a wrong or missing password', async () => {
      expect(await thrownBy(send(createProvider({ pass: 'another' }), mail))).to.be.instanceOf(ProviderFault)
      expect(await thrownBy(send(createProvider({ user: null, pass: null }), mail))).to.be.instanceOf(ProviderFault)
    })

    const stagesBeforeMail: Stage[] = ['connect', 'ehlo', 'auth', 'mail', 'rcpt', 'data']
    for (const at of stagesBeforeMail)
      for (const does of ['reset', 'close', 'hang'] as const)
        it(`is a ProviderFault, since nothing was sent: ${does} at ${at}`, async () => {
          server.next({ at, does })
          const aborting = new AbortController()
          const sending = thrownBy(send(createProvider(), mail, aborting.signal))
          if (does === 'hang') {
            await eventually(() => expect(hasReached(server, at)).to.equal(true))
            aborting.abort()
          }
          expect(await sending).to.be.instanceOf(ProviderFault)
          server.release()
          await eventually(() => expect(server.connectionsOpen()).to.equal(0))
          expect(server.mails).to.deep.equal([])
        })

    for (const at of ['within', 'body'] as const)
      for (const does of ['reset', 'close'] as const)
        it(`is an UnknownOutcome: ${does} ${at === 'within' ? 'within the mail' : 'after the mail'}`, async () => {
          server.next({ at, does })
          expect(await thrownBy(send(createProvider(), mail))).to.be.instanceOf(UnknownOutcome)
        })

    it('is an UnknownOutcome: aborted after the mail was sent', async () => {
      server.next({ at: 'body', does: 'hang' })
      const aborting = new AbortController()
      const sending = thrownBy(send(createProvider(), mail, aborting.signal))
      await eventually(() => expect(server.mails).to.have.lengthOf(1))
      aborting.abort()
      expect(await sending).to.be.instanceOf(UnknownOutcome)
    })

    it('is an UnknownOutcome: an invalid reply to the mail', async () => {
      for (const says of ['hello', '999 what', '354 Go on', '\0\0\0'])
        expect(await faultAfterReply('body', says), says).to.be.instanceOf(UnknownOutcome)
    })

    it('is a ProviderFault, since nothing was sent: an invalid reply before the mail', async () => {
      for (const at of ['connect', 'auth', 'mail', 'rcpt', 'data'] as const)
        expect(await faultAfterReply(at, 'hello'), at).to.be.instanceOf(ProviderFault)
    })

    it('is a ProviderFault, since nothing was sent: an endless reply', async () => {
      server.next({ at: 'mail', says: `250-${'x'.repeat(100_000)}` })
      expect(await thrownBy(send(createProvider(), mail))).to.be.instanceOf(ProviderFault)
    })

    it('is a ProviderFault, since nothing was sent: aborted before it began', async () => {
      expect(await thrownBy(send(createProvider(), mail, AbortSignal.abort()))).to.be.instanceOf(ProviderFault)
      expect(server.connectionsMade()).to.equal(0)
    })

    it('is a ProviderFault, since nothing was sent: no server listens', async () => {
      const { port } = server
      await server.close()
      expect(await thrownBy(send(createProvider({ port }), mail))).to.be.instanceOf(ProviderFault)
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
      const opening = openSession(
        {
          address: '127.0.0.1',
          servername: null,
          port: server.port,
          secure: false,
          tlsRequired: true,
          auth: LOGIN,
          ca: undefined,
        },
        new AbortController().signal,
      )
      expect(await thrownBy(opening)).to.be.instanceOf(SmtpFailure)
      expect(server.commands.filter(line => line.startsWith('AUTH'))).to.deep.equal([])
    })
  })

const VERBS: Partial<Record<Stage, string>> = { ehlo: 'EHLO', auth: 'AUTH', mail: 'MAIL', rcpt: 'RCPT', data: 'DATA' }

const hasReached = (server: MailServer, at: Stage): boolean =>
  at === 'connect' ? server.connectionsMade() > 0 : server.commands.some(line => line.startsWith(VERBS[at] ?? '?'))

import { expect } from 'chai'
import { type Provider, ProviderFault } from '../../../../services/channel/provider.ts'
import { createSmtpProvider } from '../../../../services/channel/providers/smtp.ts'
import type { ProviderConfigs } from '../../../../services/domain/tenancy/provider-types/list.ts'
import { eventually } from '../../../support/eventually.ts'
import {
  renderedMessage,
  send,
  type TestProviderDeps,
  testProviderDeps,
  thrownBy,
} from '../../../support/vendors/provider-fixtures.ts'
import { type MailServer, startMailServer } from '../../../support/vendors/smtp.ts'

const mail = renderedMessage({ recipient: 'ada@reader.example', subject: 's', html: null })
const MAX_CONNECTIONS = 10

describe('SMTP connections', () => {
  let deps: TestProviderDeps
  let server: MailServer
  let provider: Provider

  beforeEach(async () => {
    deps = testProviderDeps()
    server = await startMailServer()
    const config: ProviderConfigs['smtp'] = {
      host: '127.0.0.1',
      port: server.port,
      secure: false,
      user: null,
      pass: null,
      dkim: null,
      from: 'otp@shop.example',
    }
    provider = createSmtpProvider({ config }, deps)
  })
  afterEach(async () => {
    provider.close?.()
    await server.close()
    await deps.outbound.close()
  })

  const sendAtOnce = (count: number) => Promise.all(Array.from({ length: count }, () => send(provider, mail)))
  const hangAllConnections = () =>
    Array.from({ length: MAX_CONNECTIONS }, () => ({ at: 'body', does: 'hang' }) as const)

  it('are kept for the next mail', async () => {
    for (let nth = 0; nth < 5; nth += 1) await send(provider, mail)
    expect([server.mails.length, server.connectionsMade()]).to.deep.equal([5, 1])
  })

  it('are as many as are needed up to a limit; further mails wait', async () => {
    await sendAtOnce(35)
    expect(server.mails).to.have.lengthOf(35)
    expect(server.connectionsMade()).to.equal(MAX_CONNECTIONS)
  })

  it('are closed with QUIT after fifteen idle seconds', async () => {
    await send(provider, mail)
    await deps.clock.advance(14_999)
    await send(provider, mail)
    await deps.clock.advance(14_999)
    expect(server.connectionsOpen()).to.equal(1)
    await deps.clock.advance(1)
    await eventually(() => expect(server.connectionsOpen()).to.equal(0))
    expect(server.commands.at(-1)).to.equal('QUIT')
    await send(provider, mail)
    expect([server.mails.length, server.connectionsMade()]).to.deep.equal([3, 2])
  })

  it('are closed after a hundred mails', async () => {
    for (let nth = 0; nth < 101; nth += 1) await send(provider, mail)
    expect([server.mails.length, server.connectionsMade()]).to.deep.equal([101, 2])
  })

  it('that the server has closed while idle are replaced', async () => {
    await send(provider, mail)
    server.hangUp()
    await send(provider, mail)
    expect([server.mails.length, server.connectionsMade()]).to.deep.equal([2, 2])
  })

  for (const fault of [{ does: 'reset' }, { does: 'close' }, { says: '421 4.4.2 Timeout' }] as const)
    it(`that turn out to be closed when they are used again are replaced: ${Object.values(fault)}`, async () => {
      await send(provider, mail)
      server.next({ at: 'mail', ...fault })
      await send(provider, mail)
      expect([server.mails.length, server.connectionsMade()]).to.deep.equal([2, 2])
    })

  it('that the server closes when they are new are a fault, and not replaced', async () => {
    server.next({ at: 'mail', does: 'close' })
    expect(await thrownBy(send(provider, mail))).to.be.instanceOf(ProviderFault)
    expect(server.connectionsMade()).to.equal(1)
  })

  it('are not kept after a fault', async () => {
    server.next({ at: 'rcpt', says: '550 5.1.1 No such user' })
    await thrownBy(send(provider, mail))
    await eventually(() => expect(server.connectionsOpen()).to.equal(0))
    await send(provider, mail)
    expect(server.mails).to.have.lengthOf(1)
  })

  it('that hang delay a waiting mail only until its caller aborts', async () => {
    server.next(...hangAllConnections())
    const aborting = new AbortController()
    const hanging = Array.from({ length: MAX_CONNECTIONS }, () => thrownBy(send(provider, mail, aborting.signal)))
    await eventually(() => expect(server.mails).to.have.lengthOf(MAX_CONNECTIONS))
    const impatient = new AbortController()
    const gaveUp = thrownBy(send(provider, mail, impatient.signal))
    const patient = send(provider, mail)
    impatient.abort()
    expect(await gaveUp).to.be.instanceOf(ProviderFault)
    aborting.abort()
    await Promise.all([patient, ...hanging])
    expect(server.mails).to.have.lengthOf(MAX_CONNECTIONS + 1)
  })

  it('are closed when the provider is closed: at once, or after their mail', async () => {
    await send(provider, mail)
    provider.close?.()
    await eventually(() => expect(server.connectionsOpen()).to.equal(0))
    server.next({ at: 'body', does: 'hang' })
    const sending = send(provider, mail)
    await eventually(() => expect(server.mails).to.have.lengthOf(2))
    provider.close?.()
    server.release()
    await sending
    await eventually(() => expect(server.connectionsOpen()).to.equal(0))
  })
})

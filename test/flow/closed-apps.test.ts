// Closing an app or a company: its keys are refused, and all else goes on.
import { expect } from 'chai'
import { type Answer, createCaller, refusal } from '../support/api-caller.ts'
import { startCountersign } from '../support/countersign.ts'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { describeFlow } from '../support/shared-flow.ts'

const REFUSED = { type: 'HTTPException', status: 401 }

describeFlow('a closed app', (flow, engines) => {
  const setClosed = async (path: string, closed: boolean): Promise<void> => {
    const answer = await flow.admin('PATCH', path, { closed })
    expect(answer.status).to.equal(200)
    expect(answer.body.closed_at).to.be.a(closed ? 'string' : 'null')
    await flow.advance(CACHE_TTL_MS)
  }
  const same = ({ body }: Answer) => ({ ...body, request_id: '' })

  it('has every operation of its keys refused within five seconds, in the words for an unknown key', async () => {
    const { app, server, device } = await flow.createTenant()
    const { otp_id, code } = await flow.startVerification(server)
    await setClosed(`/apps/${app}`, true)
    const answers = await Promise.all([
      server.send(freshNumber()),
      server.resend(otp_id),
      server.verify(otp_id, code),
      server.status(otp_id),
      server.cancel(otp_id),
      server.exchange('otp_vt_x'),
      device.send(freshNumber()),
    ])
    const unknown = same(await flow.caller('sk_test_never').send(freshNumber()))
    for (const answer of answers) {
      expect(refusal(answer)).to.deep.equal(REFUSED)
      expect(same(answer)).to.deep.equal(unknown)
    }
  })

  it('continues where it was when it is reopened', async () => {
    const { app, server } = await flow.createTenant()
    const { otp_id, code } = await flow.startVerification(server)
    await setClosed(`/apps/${app}`, true)
    expect((await server.verify(otp_id, code)).status).to.equal(401)
    await setClosed(`/apps/${app}`, false)
    expect((await server.verify(otp_id, code)).body).to.include({ status: 'approved', matched: true })
    expect((await server.send(freshNumber())).status).to.equal(200)
  })

  it('has its receipts counted and its events stored, and operators read what it did', async () => {
    const { app, server } = await flow.createTenant()
    const to = freshNumber()
    const { body } = await server.send(to)
    await setClosed(`/apps/${app}`, true)
    // The sandbox's receipt follows the message within a second.
    await flow.eventually(async () =>
      expect((await flow.events(app)).map(({ type }) => type)).to.deep.equal(['delivery.delivered']),
    )
    const { body: timeline } = await flow.admin('GET', `/verifications/${body.otp_id}`)
    expect(timeline).to.include({ otp_id: body.otp_id, status: 'pending' })
    expect(await flow.inbox(to)).to.have.length(1)
    expect((await flow.admin('GET', `/apps/${app}`)).body.id).to.equal(app)
  })

  it('does not close the other apps of its company; a closed company closes all of them', async () => {
    const closed = await flow.createTenant()
    const other = await flow.createTenant({}, closed.company)
    const stranger = await flow.createTenant()
    await setClosed(`/apps/${closed.app}`, true)
    expect((await closed.server.send(freshNumber())).status).to.equal(401)
    expect((await other.server.send(freshNumber())).status).to.equal(200)
    await setClosed(`/companies/${closed.company}`, true)
    expect((await other.server.send(freshNumber())).status).to.equal(401)
    expect((await stranger.server.send(freshNumber())).status).to.equal(200)
    await setClosed(`/companies/${closed.company}`, false)
    expect((await other.server.send(freshNumber())).status).to.equal(200)
    expect((await closed.server.send(freshNumber())).status, 'the app itself stays closed').to.equal(401)
  })

  if (engines === 'real')
    it('is refused within five seconds by a process that did not close it', async () => {
      const { app, server } = await flow.createTenant()
      const { site, config } = flow.countersign
      const { secrets } = flow.countersign
      const env = {
        CHANNEL_BACKOFF: '200',
        WEBHOOK_BACKOFF: '200',
        DATA_KEYS: secrets.data.map(({ id, key }) => `${id}:${key.toString('base64')}`).join(),
      }
      expect(config.roles).to.include('edge')
      const edge = await startCountersign({ engines, site, env, roles: ['edge'], clock: flow.clock })
      try {
        const elsewhere = createCaller(edge.url, server.key)
        expect((await elsewhere.send(freshNumber())).status).to.equal(200)
        await setClosed(`/apps/${app}`, true)
        expect((await elsewhere.send(freshNumber())).status).to.equal(401)
      } finally {
        await edge.stop()
      }
    })
})

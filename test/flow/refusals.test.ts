// Refused sends are on record: by the actor that refused them, with everything that support needs, and never with the recipient itself.
import { expect } from 'chai'
import { freshNumber } from '../support/flow.ts'
import { rawDocuments } from '../support/raw-documents.ts'
import { ABUSIVE_IP, describeFlowOnce } from '../support/shared-flow.ts'

interface RefusalView {
  at: string
  request_id: string | null
  app_id: string
  key_id: string
  type: string
  scope: string | null
  country: string | null
  masked_recipient: string | null
}

describeFlowOnce('refused sends', flow => {
  const SETTINGS = { limits: { recipient: [{ max: 1, seconds: 600 }] }, blocked_countries: ['DE'] }
  const listed = (query: string, count: number): Promise<RefusalView[]> =>
    flow.eventually(async () => {
      const { items } = (await flow.admin('GET', `/refusals?${query}`)).body
      expect(items).to.have.length(count)
      return items
    })

  it('are listed with type, scope, country and masked recipient, whether the actor or the edge refused them', async () => {
    const { app, server } = await flow.createTenant(SETTINGS)
    const device = await flow.createKey(app, 'publishable', 'live')
    const to = freshNumber()
    expect((await server.send(to)).status).to.equal(200)
    const refused = [
      await server.send(to),
      await server.send('+4915112345678'),
      await server.send(freshNumber(), { client_ip: ABUSIVE_IP }),
      await server.send('+44 7400'),
      await device.send(freshNumber()),
      await server.send(freshNumber(), { client_ip: 'nowhere' }),
    ]
    const items = await listed(`app_id=${app}`, refused.length)
    const byType = new Map(items.map(item => [item.type, item]))
    expect([...byType.keys()]).to.have.members(refused.map(({ body }) => body.type))
    const { at, request_id: _, ...limited } = byType.get('RateLimitExceededError') as RefusalView
    const { id: key_id } = (await flow.admin('GET', `/apps/${app}/keys`)).body.items.find(
      (key: { kind: string; mode: string }) => key.kind === 'server',
    )
    expect(limited).to.deep.equal({
      app_id: app,
      key_id,
      type: 'RateLimitExceededError',
      scope: 'recipient',
      country: 'US',
      masked_recipient: `+1****${to.slice(-2)}`,
    })
    expect(Date.parse(at)).to.be.closeTo(flow.clock.now(), 120_000)
    expect(byType.get('GeoBlockedError')).to.include({ scope: null, country: 'DE', masked_recipient: '+49****78' })
    expect(byType.get('InvalidRecipientError')).to.include({ country: null, masked_recipient: null })
    expect(byType.get('PublishableSendDisabledError')).to.include({
      key_id: device.id,
      request_id: refused[4]?.headers.get('x-request-id'),
      masked_recipient: null,
    })
    expect(byType.get('ValidationError')?.request_id).to.equal(refused[5]?.headers.get('x-request-id'))
    const stored = (await rawDocuments(flow.countersign.engines.store, 'refusals')).filter(text => text.includes(app))
    expect(stored).to.have.length(refused.length)
    for (const text of stored) for (const secret of [to.slice(2), '15112345678']) expect(text).not.to.contain(secret)
  })

  it('are found by the recipient over all apps, and are gone after its erasure', async () => {
    const [shop, blog] = [await flow.createTenant(SETTINGS), await flow.createTenant(SETTINGS)]
    const to = freshNumber()
    for (const { server } of [shop, blog]) for (const _ of [1, 2]) await server.send(to)
    const items = await listed(`recipient=${encodeURIComponent(to)}`, 2)
    expect(items.map(({ app_id }) => app_id)).to.deep.equal([blog.app, shop.app])
    const { body } = await flow.admin('POST', `/apps/${shop.app}/erase`, { recipient: to })
    expect(body).to.include({ refusals: 1 })
    const [left] = await listed(`recipient=${encodeURIComponent(to)}`, 1)
    expect(left?.app_id).to.equal(blog.app)
  })
})

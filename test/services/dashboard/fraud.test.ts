import { expect } from 'chai'
import type { DecisionDoc } from '../../../services/domain/fraud/documents.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../support/admin-api.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

onEmbeddedStore('decisions of the fraud guard', fresh => {
  let admin: TestAdmin
  let app: string
  beforeEach(async () => {
    admin = await startAdmin(await fresh())
    app = (await createTenant(admin)).app
  })
  afterEach(closeAdmins)

  const decision = (nth: number, app_id: string): DecisionDoc => ({
    _id: `frd_${nth}`,
    app_id,
    company_id: 'cmp',
    mode: 'live',
    at: admin.clock.now(),
    enforced: false,
    outcome: 'refused',
    channel: null,
    verdict: 'refuse',
    score: 100,
    otp_id: `otp_${nth}`,
    reasons: [
      {
        signal: 'neighbours',
        scope: 'block',
        subject: '+447400',
        points: 100,
        sent: 30,
        verified: 0,
        usual: null,
        detail: 'why',
        pace: null,
      },
    ],
    recipient: 'keyed-index',
    masked: '+44****00',
    country: 'GB',
    unrecorded: 0,
    purge_at: new Date(9e12),
  })

  it('are listed newest first, page by page, with reasons and a masked recipient', async () => {
    await admin.store.docs('fraud_decisions').insert([1, 2, 3].map(nth => decision(nth, app)))
    await admin.store.docs('fraud_decisions').insert([decision(4, 'app_other')])
    const first = (await admin.get(`/apps/${app}/fraud?limit=2`)).body
    expect(first.items.map(({ id }: { id: string }) => id)).to.deep.equal(['frd_3', 'frd_2'])
    const { items, next_cursor } = (await admin.get(`/apps/${app}/fraud?limit=2&cursor=${first.next_cursor}`)).body
    expect(next_cursor).to.equal(null)
    const { recipient: _, masked, _id, app_id, company_id, purge_at, at, ...rest } = decision(1, app)
    expect(items).to.deep.equal([
      { id: 'frd_1', at: new Date(at).toISOString(), masked_recipient: '+44****00', ...rest },
    ])
  })

  it('have the counts by country and range of numbers beside them', async () => {
    const day = Math.floor(admin.clock.now() / 86_400_000)
    const state = { slots: [], days: [{ at: day - 1, sent: 100, verified: 80 }] }
    const tally = { app_id: app, state, rev: 1, purge_at: new Date(9e12) }
    await admin.store.docs('fraud_tallies').insert([
      { _id: `${app}:live:server:GB`, ...tally },
      { _id: `${app}:live:server:+447400`, ...tally },
      { _id: 'app_other:live:server:GB', ...tally, app_id: 'app_other' },
    ])
    const { items } = (await admin.get(`/apps/${app}/fraud/prefixes`)).body
    expect(items.map(({ prefix }: { prefix: string }) => prefix)).to.deep.equal(['+447400', 'GB'])
    expect(items[1]).to.deep.equal({
      prefix: 'GB',
      mode: 'live',
      started_by: 'server',
      last_hour: { sent: 0, verified: 0 },
      usual_share: 0.8,
      days: [{ day: '2029-12-31', sent: 100, verified: 80 }],
    })
  })
})

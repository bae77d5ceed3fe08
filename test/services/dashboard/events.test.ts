import { expect } from 'chai'
import { adminOn, closeAdmins, type TestAdmin, tenant } from '../../support/admin.ts'
import { eachStore } from '../../support/stores.ts'

eachStore('webhook events for an operator', fresh => {
  let admin: TestAdmin
  beforeEach(async () => {
    admin = await adminOn(await fresh())
  })
  afterEach(closeAdmins)

  it('are listed for their app, newest first', async () => {
    const { company, app } = await tenant(admin)
    const other = await tenant(admin)
    const event = (_id: string, app_id: string) => ({
      ...{ _id, app_id, company_id: company, mode: 'live' as const, type: 'otp.approved' as const },
      ...{
        payload: { otp_id: 'otp_1', status: 'approved' },
        created_at: Date.UTC(2030, 0, 1),
        purge_at: new Date(0),
        rev: 0,
      },
    })
    const events = admin.store.docs('events')
    await events.insert([event('evt_1', app), event('evt_2', app), event('evt_3', other.app)])
    const { body } = await admin.get(`/apps/${app}/events`)
    expect(body.next_cursor).to.equal(null)
    expect(body.items.map(({ id }: { id: string }) => id)).to.deep.equal(['evt_2', 'evt_1'])
    expect(body.items[0]).to.deep.equal({
      ...{ id: 'evt_2', type: 'otp.approved', mode: 'live', payload: { otp_id: 'otp_1', status: 'approved' } },
      created_at: '2030-01-01T00:00:00.000Z',
    })
  })
})

import { expect } from 'chai'
import { Webhook } from 'standardwebhooks'
import { newId } from '../../../../infra/ids.ts'
import { type EventDoc, eventAnswerContext } from '../../../../services/domain/webhooks/documents.ts'
import { type NewEventFields, newEvent } from '../../../../services/domain/webhooks/new-event.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { eachStore } from '../../../support/stores.ts'

eachStore('webhook events for an operator', fresh => {
  let admin: TestAdmin
  beforeEach(async () => {
    admin = await startAdmin(await fresh())
  })
  afterEach(closeAdmins)

  const NOW = Date.UTC(2030, 0, 1)
  const event = (_id: string, app_id: string, more: Partial<EventDoc> = {}): EventDoc => {
    const happened: NewEventFields = {
      _id,
      app_id,
      company_id: 'cmp_1',
      mode: 'live',
      type: 'otp.approved',
      payload: { otp_id: 'otp_1', status: 'approved' },
      created_at: NOW,
      purge_at: new Date(NOW + 1e10),
    }
    return { ...newEvent(happened, 'unsent'), ...more }
  }
  const insert = (...docs: EventDoc[]) => admin.store.docs('events').insert(docs)
  const ids = async (path: string): Promise<string[]> =>
    (await admin.get(path)).body.items.map(({ id }: { id: string }) => id)
  const endpoint = (app: string) => admin.ask('PUT', `/apps/${app}/webhook`, { url: 'https://shop.example/' })
  const records = async (action: string) =>
    (await admin.get('/audit')).body.items.filter((record: { action: string }) => record.action === action)

  it('are fetched with the signature of a given secret, without those that the caller has', async () => {
    const { app } = await createTenant(admin)
    const other = await createTenant(admin)
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const at = (ms: number) => newId('evt', NOW + ms)
    const [before, first, second] = [at(-2), at(1), at(2)]
    const full = { otp_id: 'otp_1', status: 'approved', channel: 'sms', country: 'GB', created_at: 'x' }
    await insert(
      event(before, app),
      event(first, app, { payload: full }),
      event(`${first}:whk_2`, app, { endpoint_id: 'whk_2' }),
      event(second, app, { mode: 'test' }),
      event(at(3), other.app),
    )
    const fetchEvents = async (known: string[]) => {
      const body = { secret, since: NOW, known }
      return (await admin.ask('POST', `/apps/${app}/events/fetch`, body)).body.events
    }
    const all = await fetchEvents([])
    const testId = second.replace('evt_', 'evt_test_')
    expect(all.map(({ id }: { id: string }) => id)).to.deep.equal([first, testId])
    for (const { id, headers, body } of all) {
      // The clock of this test stands still, so the public library would find the signature too old.
      const signedAt = new Date(Number(headers['webhook-timestamp']) * 1000)
      expect(signedAt.getTime()).to.equal(Math.floor(admin.clock.now() / 1000) * 1000)
      expect(headers['webhook-signature']).to.equal(new Webhook(secret).sign(id, signedAt, body))
      expect(JSON.parse(body).payload).to.deep.equal({ otp_id: 'otp_1', status: 'approved' })
    }
    expect((await fetchEvents([first])).map(({ id }: { id: string }) => id)).to.deep.equal([testId])
    expect(await fetchEvents([first, testId])).to.deep.equal([])
  })

  it('are fetched past a page of those that the caller has', async () => {
    const { app } = await createTenant(admin)
    const ids = Array.from({ length: 201 }, (_, at) => newId('evt', NOW + at))
    await insert(...ids.map(id => event(id, app)))
    const body = { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', since: NOW, known: ids.slice(0, 200) }
    const { events } = (await admin.ask('POST', `/apps/${app}/events/fetch`, body)).body
    expect(events.map(({ id }: { id: string }) => id)).to.deep.equal(ids.slice(200))
  })

  it('are listed for their app, newest first, with status and attempts', async () => {
    const { app } = await createTenant(admin)
    const other = await createTenant(admin)
    const sealed_response = admin.keyring.seal('busy', eventAnswerContext('evt_2'))
    const attempt = { round: 1, attempt: 1, at: NOW + 5, ms: 12, status: 503, error: null, sealed_response }
    const { sealed_response: _, ...shown } = attempt
    const sent = { status: 'pending' as const, round: 1, tries: 1, attempts: [attempt], next_attempt_at: NOW + 5_000 }
    await insert(event('evt_1', app), event('evt_2', app, sent), event('evt_3', other.app))
    const { body } = await admin.get(`/apps/${app}/events`)
    expect(body.next_cursor).to.equal(null)
    expect(body.items).to.deep.equal([
      {
        id: 'evt_2',
        type: 'otp.approved',
        mode: 'live',
        payload: { otp_id: 'otp_1', status: 'approved' },
        created_at: '2030-01-01T00:00:00.000Z',
        endpoint_id: app.replace('app_', 'whk_'),
        status: 'pending',
        round: 1,
        next_attempt_at: '2030-01-01T00:00:05.000Z',
        attempts: [{ ...shown, response: 'busy', at: '2030-01-01T00:00:00.005Z' }],
      },
      {
        id: 'evt_1',
        type: 'otp.approved',
        mode: 'live',
        payload: { otp_id: 'otp_1', status: 'approved' },
        created_at: '2030-01-01T00:00:00.000Z',
        endpoint_id: null,
        status: 'unsent',
        round: 1,
        next_attempt_at: null,
        attempts: [],
      },
    ])
  })

  it('are looked up one by one, by the id that receivers know', async () => {
    const { app } = await createTenant(admin)
    const sealed_response = admin.keyring.seal('busy', eventAnswerContext('evt_2'))
    const attempt = { round: 1, attempt: 1, at: NOW + 5, ms: 12, status: 503, error: null, sealed_response }
    await insert(event('evt_1', app), event('evt_2', app, { mode: 'test', status: 'failed', attempts: [attempt] }))
    const listed = (await admin.get(`/apps/${app}/events`)).body.items
    const { deliveries, ...first } = (await admin.get('/events/evt_test_2')).body
    expect(first).to.deep.equal(listed[0])
    const { id, type, mode, payload, created_at, ...state } = listed[0]
    expect(deliveries).to.deep.equal([state])
    expect((await admin.get('/events/evt_1')).body).to.deep.include(listed[1])
    for (const id of ['evt_2', 'evt_test_1', 'evt_none'])
      expect((await admin.get(`/events/${id}`)).status, id).to.equal(404)
  })

  it('are searched by type, state, mode, time, event and endpoint, and these together', async () => {
    const { app } = await createTenant(admin)
    await endpoint(app)
    const second = (await admin.ask('POST', `/apps/${app}/endpoints`, { url: 'https://crm.example/' })).body.id
    const at = (minutes: number) => ({ created_at: NOW + minutes * 60_000 })
    const id = (minutes: number) => newId('evt', NOW + minutes * 60_000)
    const [a, b, c, d, e] = [id(0), id(10), id(20), id(30), id(40)]
    await insert(
      event(a, app, { ...at(0), status: 'delivered' }),
      event(`${b}:${second}`, app, { ...at(10), endpoint_id: second, type: 'otp.expired', status: 'delivered' }),
      event(c, app, { ...at(20), mode: 'test', status: 'pending' }),
      event(d, app, { ...at(30), type: 'delivery.failed', status: 'failed' }),
      event(`${d}:${second}`, app, { ...at(30), endpoint_id: second, type: 'delivery.failed', status: 'unsent' }),
      // No endpoint asked for it.
      event(e, app, { ...at(40), type: 'otp.canceled', payload: { otp_id: 'otp_2' }, status: 'unsent' }),
    )
    const test = c.replace('evt_', 'evt_test_')
    const found = async (query: string) => ids(`/apps/${app}/events?${query}`)
    expect(await found('type=otp.expired')).to.deep.equal([b])
    expect(await found('type=delivery.failed')).to.deep.equal([d, d])
    expect(await found('status=delivered')).to.deep.equal([b, a])
    expect(await found('status=pending')).to.deep.equal([test])
    expect(await found('status=unsent')).to.deep.equal([e, d])
    expect(await found('otp_id=otp_2')).to.deep.equal([e])
    expect(await found('status=unsent&otp_id=otp_1')).to.deep.equal([d])
    expect(await found('mode=test')).to.deep.equal([test])
    expect(await found('mode=live&status=delivered&type=otp.approved')).to.deep.equal([a])
    expect(await found(`endpoint_id=${second}`)).to.deep.equal([d, b])
    expect(await found(`endpoint_id=${app.replace('app_', 'whk_')}`)).to.deep.equal([d, test, a])
    expect(await found('since=2030-01-01T00:10:00Z&until=2030-01-01T00:30:00Z')).to.deep.equal([test, b])
    expect(await found('since=2030-01-01T00:40:00.001Z')).to.deep.equal([])
    expect(await found(`event_id=${d}`)).to.deep.equal([d, d])
    expect(await found(`event_id=${d}&status=failed`)).to.deep.equal([d])
    expect(await found(`event_id=${test}`)).to.deep.equal([test])
    expect(await found(`event_id=${c}`), 'by an id that receivers do not know').to.deep.equal([])
    const first = (await admin.get(`/apps/${app}/events?event_id=${d}&limit=1`)).body
    expect(await found(`event_id=${d}&limit=1&cursor=${encodeURIComponent(first.next_cursor)}`)).to.deep.equal([d])
    const other = await createTenant(admin)
    expect(await ids(`/apps/${other.app}/events?event_id=${d}`), 'of another app').to.deep.equal([])
    expect((await admin.get(`/apps/${other.app}/events?endpoint_id=${second}`)).status).to.equal(404)
  })

  it('of test mode are told by their ids, in one list with the live ones, in the order of time', async () => {
    const { app } = await createTenant(admin)
    await endpoint(app)
    const stored = [0, 1, 2, 3, 4].map(ms => newId('evt', NOW + ms))
    const modeOf = (nth: number) => (nth % 2 === 0 ? 'live' : 'test')
    await insert(...stored.map((id, nth) => event(id, app, { mode: modeOf(nth), status: 'failed' })))
    const shown = stored.map((id, nth) => (modeOf(nth) === 'live' ? id : id.replace('evt_', 'evt_test_'))).reverse()
    for (const filter of ['', 'status=failed&', 'otp_id=otp_1&']) {
      const paged: string[] = []
      for (let cursor = ''; ; ) {
        const { items, next_cursor } = (await admin.get(`/apps/${app}/events?${filter}limit=2${cursor}`)).body
        paged.push(...items.map(({ id }: { id: string }) => id))
        if (next_cursor === null) break
        cursor = `&cursor=${encodeURIComponent(next_cursor)}`
      }
      expect(paged, filter).to.deep.equal(shown)
    }
  })

  it('of test mode are sent again by the id that receivers know, and by no other', async () => {
    const { app } = await createTenant(admin)
    await endpoint(app)
    await insert(event('evt_1', app), event('evt_2', app, { mode: 'test' }))
    const replayed = await admin.ask('POST', '/events/evt_test_2/replay')
    expect([replayed.status, replayed.body.id, replayed.body.mode]).to.deep.equal([200, 'evt_test_2', 'test'])
    expect((await records('event.replay'))[0]).to.include({ target: 'evt_test_2' })
    for (const id of ['evt_2', 'evt_test_1', 'evt_test_', 'test_2'])
      expect((await admin.ask('POST', `/events/${id}/replay`)).status, id).to.equal(404)
  })

  it('are sent again for a range of time, in ISO 8601 or epoch milliseconds', async () => {
    const { app } = await createTenant(admin)
    await endpoint(app)
    const at = (ms: number) => newId('evt', NOW + ms)
    const eventAt = (ms: number) => event(at(ms), app, { created_at: NOW + ms, status: 'delivered' })
    await insert(eventAt(0), eventAt(1_000), eventAt(2_000))
    const again = (body: unknown) => admin.ask('POST', `/apps/${app}/events/replay`, body)
    const since = '2030-01-01T00:00:01Z'
    expect((await again({ since, until: '2030-01-01T01:00:02+01:00' })).body).to.deep.equal({ replayed: 1 })
    expect((await again({ since: NOW, until: NOW + 2_000 })).body).to.deep.equal({ replayed: 2 })
    await admin.clock.advance(10_000)
    expect((await again({ since })).body).to.deep.equal({ replayed: 2 })
    expect((await records('events.replay')).length).to.equal(3)
  })

  it('are not sent again without an endpoint', async () => {
    const { app } = await createTenant(admin)
    await insert(event('evt_1', app))
    const one = await admin.ask('POST', '/events/evt_1/replay')
    expect([one.status, one.body.detail]).to.deep.equal([409, 'The app has no webhook endpoint.'])
    expect((await admin.ask('POST', `/apps/${app}/events/replay`, { since: NOW - 1 })).status).to.equal(409)
  })
})

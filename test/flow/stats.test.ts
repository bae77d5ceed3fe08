// Statistics of an app over HTTP: sends, codes and refusals become rows of the admin API and metrics.

import process from 'node:process'
import { expect } from 'chai'
import { VERSION } from '../../infra/version.ts'
import { wrongCode } from '../support/flow.ts'
import { describeFlowOnce } from '../support/shared-flow.ts'
import { keepEachTestWithin } from '../support/within-period.ts'

const HOUR_MS = 3_600_000

describeFlowOnce('statistics', flow => {
  const stats = async (app: string, query = '') => (await flow.admin('GET', `/apps/${app}/stats${query}`)).body.items
  const last = async (app: string, query = '') => (await stats(app, query)).at(-1)

  keepEachTestWithin(HOUR_MS, flow)

  it('count what was started, sent, delivered, approved, failed and refused, some seconds later', async () => {
    const { app, server, device } = await flow.createTenant({
      verify_attempts: 1,
      blocked_countries: ['FR'],
      publishable_challenge: 'always',
    })
    // It is not counted as refused: a device that solves its challenge is only delayed.
    expect((await device.send('+447400123456')).body.type).to.equal('ChallengeRequiredError')
    const right = await flow.startVerification(server)
    const wrong = await flow.startVerification(server)
    expect((await server.verify(right.otp_id, right.code)).body.matched).to.equal(true)
    expect((await server.verify(wrong.otp_id, wrongCode(wrong.code))).body.status).to.equal('failed')
    expect((await server.send('+33612345678')).body.type).to.equal('GeoBlockedError')
    expect((await server.send('no number')).body.type).to.equal('InvalidRecipientError')

    const row = await flow.eventually(async () => {
      const found = await last(app)
      expect(found).to.include({ started: 2, sent: 2, delivered: 2, approved: 1, failed: 1, expired: 0, refused: 2 })
      return found
    })
    expect(row.conversion).to.equal(0.5)
    expect(row.seconds_to_approve_p50).to.be.within(0, 30)
    expect(row.bucket).to.match(/^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z$/)

    const total = { started: 2, sent: 2, delivered: 2, approved: 1, failed: 1, expired: 0, conversion: 0.5 }
    const [sms, none] = await stats(app, '?by=channel&bucket=day')
    expect(sms).to.include({ channel: 'sms', refused: 0, ...total })
    expect(none).to.include({ channel: null, refused: 2, started: 0, conversion: null, seconds_to_approve_p50: null })
    const countries = await stats(app, '?by=country&mode=test')
    expect(countries.map(({ country }: { country: string }) => country)).to.deep.equal(['FR', 'US', null])
    expect(countries[1]).to.include({ refused: 0, ...total })
    expect(await last(app, '?mode=live')).to.include({ started: 0, refused: 0, conversion: null })
  })

  it('have a row for each bucket, also without traffic: 24 hours or 30 days unless the query says otherwise', async () => {
    const { app } = await flow.createTenant()
    const hours = await stats(app)
    expect(hours).to.have.length(24)
    const now = flow.clock.now()
    const at = (hour: number, ms = 0) => new Date(now - (now % HOUR_MS) + hour * HOUR_MS + ms).toISOString()
    expect([hours[0].bucket, hours.at(-1).bucket]).to.deep.equal([at(-23), at(0)])
    expect(hours[0]).to.include({ started: 0, conversion: null, spend_micros: 0, seconds_to_approve_p50: null })
    expect(await stats(app, '?bucket=day')).to.have.length(30)
    expect(await stats(app, '?by=channel')).to.deep.equal([])
    const range = await stats(app, `?since=${at(-5, 1)}&until=${at(-2)}`)
    expect(range.map(({ bucket }: { bucket: string }) => bucket)).to.deep.equal([at(-5), at(-4), at(-3)])
    // A plus that was not escaped arrives as a space.
    expect(await stats(app, `?since=${at(-2).replace('Z', '+00:00')}`)).to.have.length(3)
  })

  it('refuse what they cannot show, by name', async () => {
    const { app } = await flow.createTenant()
    const ago = (days: number) => new Date(flow.clock.now() - days * 24 * HOUR_MS).toISOString()
    const refusals = {
      'bucket=week': 'must be hour or day',
      'by=key': 'must be channel, country or provider',
      'mode=both': 'must be one of live, test',
      'since=yesterday': 'must be a time, such as "2030-01-31T12:00:00Z"',
      [`until=${ago(2)}&since=${ago(1)}`]: 'must be later than since',
      [`since=${ago(32)}`]: 'asks for 769 hours, and at most 744 are shown at a time',
      [`since=${ago(45)}&until=${ago(44)}`]: 'is too long ago: hours are kept for 40 days',
      [`by=country&since=${ago(7)}`]: 'asks for 169 hours by country, and at most 168 are shown at a time',
      [`bucket=day&since=${ago(500)}`]: 'asks for 501 days, and at most 400 are shown at a time',
    }
    for (const [query, message] of Object.entries(refusals)) {
      const { status, body } = await flow.admin('GET', `/apps/${app}/stats?${query}`)
      expect([status, body.errors?.[0]?.message], query).to.deep.equal([422, message])
    }
  })

  it('are in the metrics as well, by mode and channel', async () => {
    const { server } = await flow.createTenant({ verify_attempts: 1, blocked_countries: ['FR'] })
    const metrics = async () => {
      const { url, secrets } = flow.countersign
      const headers = { authorization: `Bearer ${secrets.adminTokens[0]?.token}` }
      return (await fetch(`${url}/metrics`, { headers })).text()
    }
    const figures = {
      started: ['countersign_verifications_started_total{', 'mode="test"', 'channel="sms"'],
      approved: ['countersign_verifications_approved_total{', 'mode="test"', 'channel="sms"'],
      failed: ['countersign_verifications_failed_total{', 'mode="test"', 'channel="sms"'],
      refused: ['countersign_refusals_total{', 'mode="test"', 'type="GeoBlockedError"'],
      delivered: ['countersign_deliveries_total{', 'channel="sms"', 'provider="sandbox"', '"delivered"'],
      toDelivered: ['countersign_send_to_delivered_seconds_count{', 'mode="test"', 'channel="sms"'],
      toApproved: ['countersign_send_to_approved_seconds_count{', 'mode="test"', 'channel="sms"'],
    }
    const read = async () => {
      const lines = (await metrics()).split('\n')
      const numberOf = (labels: string[]) =>
        Number(
          lines
            .find(line => labels.every(label => line.includes(label)))
            ?.split(' ')
            .at(-1) ?? 0,
        )
      return Object.fromEntries(Object.entries(figures).map(([name, labels]) => [name, numberOf(labels)]))
    }
    const before = await read()
    const [right, wrong] = [await flow.startVerification(server), await flow.startVerification(server)]
    await server.verify(right.otp_id, right.code)
    await server.verify(wrong.otp_id, wrongCode(wrong.code))
    await server.send('+33612345678')
    await flow.eventually(async () => {
      const after = await read()
      const grown = Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)])
      const expected = { started: 2, approved: 1, failed: 1, refused: 1, delivered: 2, toDelivered: 2, toApproved: 1 }
      expect(Object.fromEntries(grown)).to.deep.equal(expected)
    })
    const build = `countersign_build_info{version="${VERSION}",node="${process.version}"`
    expect(await metrics()).to.include(build)
  })
})

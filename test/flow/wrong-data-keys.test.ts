// A process whose DATA_KEYS do not fit its store names the problem and ends before it takes work or writes anything.
import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import { StartProblem } from '../../infra/start-problem.ts'
import { describeCountersign } from '../support/countersign.ts'
import { rawDocuments } from '../support/raw-documents.ts'

const [OLD, NEW] = ['old', 'new'].map((id, at) => `${id}:${Buffer.alloc(32, at + 1).toString('base64')}`)

const bootstrap = (auth_token: string) => {
  const config = { account_sid: 'AC11111111111111111111111111111111', auth_token, from: '+15550001111' }
  const providers = [{ name: 'a', channel: 'sms', type: 'twilio', config }]
  return { companies: [{ id: 'cmp_1', name: 'Acme', apps: [{ id: 'app_1', name: 'Shop', providers }] }] }
}

describeCountersign('the check of DATA_KEYS against the store', start => {
  const startError = (starting: Promise<unknown>): Promise<Error> =>
    starting.then(
      () => expect.fail('it started'),
      error => error,
    )

  it('ends the start when the keys do not fit, and leaves the store unchanged', async () => {
    const right = await start({ env: { DATA_KEYS: OLD ?? '' }, bootstrap: bootstrap('first') })
    const [before] = await rawDocuments(right.engines.store, 'providers')
    const refused = await startError(right.restart({ env: { DATA_KEYS: NEW ?? '' }, bootstrap: bootstrap('second') }))
    expect(refused).to.be.instanceOf(StartProblem)
    expect(refused.message).to.match(/^DATA_KEYS: .*"old".*\(new\)/)
    const again = await start({ site: right.site, env: { DATA_KEYS: OLD ?? '' } })
    expect(await rawDocuments(again.engines.store, 'providers')).to.deep.equal([before])
  })
})

// POST /apps/{id}/route: which channel a send would use, and why.
import { expect } from 'chai'
import type { Channel } from '../../../machines/channels.ts'
import { MAGIC_RECIPIENTS } from '../../../machines/magic-recipients.ts'
import { createTenancy } from '../../../services/domain/tenancy/tenancy.ts'
import { acceptRecipient } from '../../../services/domain/verifications/valid-recipient.ts'
import { createAppCache } from '../../../services/otp/apps.ts'
import { planSend } from '../../../services/otp/calls/send-plan.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../support/admin-api.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

const BRAZILIAN = '+5511987654321'
const BRITISH = '+447400123456'
const [PREMIUM, VOIP] = ['+19002345678', '+445612345678']

onEmbeddedStore('the routing preview', fresh => {
  let admin: TestAdmin
  let app: string
  beforeEach(async () => {
    admin = await startAdmin(await fresh())
    app = (await createTenant(admin, { routing: { countries: { BR: ['whatsapp', 'sms'] } } })).app
    await provide('sms', 'whatsapp', 'email')
  })
  afterEach(closeAdmins)

  const provide = (...channels: Channel[]) =>
    admin.store.docs('providers').insert(
      channels.map((channel, position) => ({
        _id: `${app}:${channel}`,
        app_id: app,
        name: channel,
        channel,
        type: 'sandbox' as const,
        position,
        config: 'sealed elsewhere',
        rev: 0,
      })),
    )
  const explain = async (recipient: string, asked: object = {}) =>
    (await admin.ask('POST', `/apps/${app}/route`, { recipient, ...asked })).body
  const change = (settings: object) => admin.ask('PATCH', `/apps/${app}`, { settings })
  const obstacles = ({ channels }: { channels: { channel: string; obstacle: string | null }[] }) =>
    Object.fromEntries(channels.map(({ channel, obstacle }) => [channel, obstacle]))

  it('names the first usable channel of the default order, and a country’s own order', async () => {
    const body = await explain(BRITISH)
    expect(body).to.include({ channel: 'sms', refusal: null, recipient_type: 'phone', country: 'GB' })
    expect(body.why).to.contain('default order')
    expect(obstacles(body)).to.deep.equal({ sms: null, whatsapp: null, telegram: 'no_provider', email: 'recipient' })
    const own = await explain(BRAZILIAN)
    expect(own).to.deep.include({ channel: 'whatsapp', country: 'BR', order: ['whatsapp', 'sms'] })
    expect(own.why).to.contain('BR')
    expect(own.channels.map(({ place }: { place: number | null }) => place)).to.deep.equal([2, 1, null, null])
  })

  it('names the provider that would be called for each channel', async () => {
    const place = { type: 'sandbox', channel: 'sms', config: {} }
    await admin.ask('PUT', `/apps/${app}/providers/brazil`, { ...place, countries: ['BR'], position: 0 })
    const providers = async (recipient: string, asked: object = {}) =>
      (await explain(recipient, asked)).channels.map(({ provider }: { provider: string | null }) => provider)
    expect(await providers(BRITISH)).to.deep.equal(['sms', 'whatsapp', null, null])
    expect(await providers(BRAZILIAN)).to.deep.equal(['brazil', 'whatsapp', null, null])
    expect(await providers('ann@example.com')).to.deep.equal([null, null, null, 'email'])
    expect(await providers(BRITISH, { mode: 'test' })).to.deep.equal(['sandbox', 'sandbox', 'sandbox', null])
  })

  it('leaves out a provider whose type this release does not know, as a send does', async () => {
    const place = { type: 'sandbox', channel: 'sms', config: {} }
    await admin.ask('PUT', `/apps/${app}/providers/newer`, { ...place, position: 0 })
    for (const name of ['newer', 'whatsapp'])
      await admin.store.docs('providers').modify({ _id: `${app}:${name}` }, { $set: { type: 'pigeon' } })
    const [sms, whatsapp] = (await explain(BRITISH)).channels
    expect(sms).to.include({ provider: 'sms', obstacle: null })
    expect(whatsapp).to.include({ provider: null, obstacle: 'no_provider' })
  })

  const refusalOfSend = async (text: string) => {
    const recipient = acceptRecipient(text, 'test')
    if (recipient === null) return 'InvalidRecipientError'
    const sending = await createAppCache({ tenancy: createTenancy(admin), clock: admin.clock }).get(app)
    if (!sending) throw new Error('there is no such app')
    const plan = planSend({
      recipient,
      mode: 'test',
      caller: 'server',
      app: sending,
      reputation: null,
      givenCode: null,
      stopped: [],
    })
    return 'kind' in plan ? plan.error : plan.insufficientFunds ? 'InsufficientFundsError' : null
  }
  const DISABLED = { enabled: false }
  for (const [when, settings] of [
    ['by default', {}],
    ['when the country is blocked', { blocked_countries: ['US', 'GB'] }],
    [
      'when no channel is enabled',
      { channels: { sms: DISABLED, whatsapp: DISABLED, telegram: DISABLED, email: DISABLED } },
    ],
    ['when kinds of numbers are refused', { number_kinds: { refused: ['voip', 'personal_number'] } }],
    ['when both are so', { blocked_countries: ['US'], routing: { default: [] } }],
  ] as const)
    it(`refuses what a send refuses, with the same error, ${when}`, async () => {
      expect((await change(settings)).status).to.equal(200)
      const recipients = MAGIC_RECIPIENTS.flatMap(([number, name]) => [number, `${name}@magic.test`])
      for (const recipient of [BRITISH, PREMIUM, VOIP, 'a@example.com', 'nothing', ...recipients]) {
        const { refusal } = await explain(recipient, { mode: 'test' })
        expect(refusal, recipient).to.equal(await refusalOfSend(recipient))
      }
    })
})

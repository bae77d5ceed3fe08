// Changes that a stolen session must not make alone: in a session that has not proved lately whose it is, they are
// refused and change nothing.
import { expect } from 'chai'
import { OPERATIONS } from '../../../services/dashboard/admin-api.ts'
import { settingsThatNeedStepUp } from '../../../services/dashboard/apps/settings-step-up.ts'
import { stepUpRefusal } from '../../../services/dashboard/step-up.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import type { SettingsInput } from '../../../services/domain/tenancy/settings.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../support/admin-api.ts'
import { type Browser, signIn, userBrowser } from '../../support/dashboard-session.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

const STEP_UP_MS = 10 * 60_000
const URL = 'https://shop.example/hooks'

describe('settings that need a step-up', () => {
  const text = { en: { text: '{code} is your code for {app}.' } }
  const rule = (max: number, seconds = 600) => [{ max, seconds }]
  const cases: [what: string, stored: SettingsInput, changed: SettingsInput, needs: string[]][] = [
    ['an own text', {}, { texts: { sms: text } }, ['texts.sms']],
    ['an own text that is taken away', { texts: { whatsapp: text } }, {}, ['texts.whatsapp']],
    ['an own text that stays', { texts: { sms: text } }, { texts: { sms: text }, text_links: false }, []],
    ['links in texts', {}, { text_links: true }, ['text_links']],
    ['no more links in texts', { text_links: true }, {}, []],
    [
      'the guard that an app of devices has by default',
      { publishable_send: true },
      { publishable_send: true, fraud_guard: { mode: 'record' } },
      ['fraud_guard.mode'],
    ],
    ['the guard, before devices send', {}, { fraud_guard: { mode: 'record' } }, ['fraud_guard.mode']],
    ['a guard that is left to the default', { fraud_guard: { mode: 'on' } }, {}, ['fraud_guard.mode']],
    ['a stricter guard', { fraud_guard: { mode: 'off' } }, { fraud_guard: { mode: 'on' } }, []],
    ['devices that no longer send', { publishable_send: true }, {}, []],
    [
      'no challenge',
      { publishable_send: true },
      { publishable_send: true, publishable_challenge: 'off' },
      ['publishable_challenge'],
    ],
    ['a limit raised tenfold', { limits: { app: rule(10) } }, { limits: { app: rule(100) } }, []],
    ['a limit raised above tenfold', { limits: { app: rule(10) } }, { limits: { app: rule(101) } }, ['limits.app']],
    ['the same by a shorter window', { limits: { app: rule(10) } }, { limits: { app: rule(2, 6) } }, ['limits.app']],
    ['a limit that is taken away', {}, { limits: { recipient_messages: [] } }, ['limits.recipient_messages']],
    [
      'a limit raised step by step above ten times the default',
      { limits: { client_ip: rule(200) } },
      { limits: { client_ip: rule(201) } },
      ['limits.client_ip'],
    ],
    ['a lower limit, however high', { limits: { client_ip: rule(900) } }, { limits: { client_ip: rule(800) } }, []],
    ['a cap that is raised', { spend_caps: { '*': 5 } }, { spend_caps: { '*': 5, GB: 6 } }, ['spend_caps']],
    ['a cap that is taken away', { spend_caps: { GB: 5 } }, {}, ['spend_caps']],
    ['a cap that is lower', { spend_caps: { GB: 5 } }, { spend_caps: { '*': 9, GB: 4 } }, []],
    [
      'what no stolen session gains by',
      {},
      { code: { length: 8 }, auto_fallback: true, blocked_countries: ['FR'] },
      [],
    ],
  ]
  for (const [what, stored, changed, needs] of cases)
    it(`are ${needs.join() || 'none'}: ${what}`, () => {
      expect(settingsThatNeedStepUp(stored, changed)).to.deep.equal(needs)
    })
})

onEmbeddedStore('changes that need a step-up', fresh => {
  let store: CountersignStore
  let admin: TestAdmin
  let company: string
  let owner: Browser
  beforeEach(async () => {
    store = await fresh()
    admin = await startAdmin(store)
    company = (await createTenant(admin)).company
    owner = (await userBrowser(admin, company, 'owner')).browser
  })
  afterEach(closeAdmins)

  it('are refused in a session that has not proved lately whose it is, and change nothing', async () => {
    const made = async (path: string, body: unknown): Promise<string> => (await owner.ask('POST', path, body)).body.id
    const app = await made(`/companies/${company}/apps`, { name: 'Shop' })
    const key = await made(`/apps/${app}/keys`, { kind: 'server', mode: 'live' })
    const endpoint = await made(`/apps/${app}/endpoints`, {
      name: 'CRM',
      url: URL,
      events: ['otp.approved'],
      payload: 'full',
    })
    const user = (await userBrowser(admin, company, 'viewer')).user._id
    const operator = await signIn(admin.url, { token: 'token-of-ada' })
    const calls: [id: string, path: string, body?: unknown, by?: Browser][] = [
      ['changeApp', `/apps/${app}`, { settings: { text_links: true } }],
      ['changeApp', `/apps/${app}`, { closed: true }],
      ['createApiKey', `/apps/${app}/keys`, { kind: 'server', mode: 'live' }],
      ['revokeApiKey', `/keys/${key}`],
      ['putProvider', `/apps/${app}/providers/main`, { type: 'sandbox', channel: 'sms' }],
      ['deleteProvider', `/apps/${app}/providers/main`],
      ['setSupabaseHook', `/apps/${app}/hooks/supabase`, { mode: 'live', secrets: null }],
      ['putWebhook', `/apps/${app}/webhook`, { url: URL }],
      [
        'createEndpoint',
        `/apps/${app}/endpoints`,
        { name: 'ERP', url: URL, events: ['otp.approved'], payload: 'full' },
      ],
      ['patchEndpoint', `/endpoints/${endpoint}`, { url: `${URL}/elsewhere` }],
      ['deleteEndpoint', `/endpoints/${endpoint}`],
      ['rotateWebhookSecret', `/apps/${app}/webhook/rotate`, {}],
      ['promoteWebhookSecret', `/apps/${app}/webhook/promote`],
      ['rotateEndpointSecret', `/endpoints/${endpoint}/rotate`, {}],
      ['promoteEndpointSecret', `/endpoints/${endpoint}/promote`],
      ['eraseRecipient', `/apps/${app}/erase`, { recipient: '+14155550123' }],
      ['eraseRecipientInCompany', `/companies/${company}/erase`, { recipient: '+14155550123' }],
      ['inviteUser', `/companies/${company}/users`, { email: 'new@shop.example', role: 'viewer' }],
      ['changeUser', `/users/${user}`, { role: 'owner' }],
      ['deleteUser', `/users/${user}`],
      ['creditCompany', `/companies/${company}/credit`, { micros: 5, note: 'x' }, operator],
      ['changeCompany', `/companies/${company}`, { closed: true }, operator],
    ]
    await admin.clock.advance(STEP_UP_MS)
    const audited = () => store.docs('audit').find({}, { sort: { _id: -1 }, limit: 1 })
    const before = await audited()
    for (const [id, path, body, by = owner] of calls) {
      const declared = OPERATIONS.find(one => one.id === id)
      const answer = await by.ask((declared?.method ?? '').toUpperCase(), path, body)
      expect(answer.body, `${id} ${answer.text}`).to.include({ status: 403, type: 'StepUpRequiredError' })
    }
    expect(await audited()).to.deep.equal(before)
    const untried = OPERATIONS.filter(
      ({ id, refusals }) => refusals.includes(stepUpRefusal) && !calls.some(([tried]) => tried === id),
    )
    expect(untried.map(({ id }) => id)).to.have.members(['replacePrices', 'stampUsers', 'startPasskey', 'addPasskey'])
  })

  it('are made with other members by the same operations', async () => {
    const app = (await owner.ask('POST', `/companies/${company}/apps`, { name: 'Shop' })).body.id
    const fields = { name: 'CRM', url: URL, events: ['otp.approved'], payload: 'full' }
    const endpoint = (await owner.ask('POST', `/apps/${app}/endpoints`, fields)).body.id
    await admin.clock.advance(STEP_UP_MS)
    for (const [path, body] of [
      [`/apps/${app}`, { name: 'Shop 2', settings: { code: { length: 8 } } }],
      [`/endpoints/${endpoint}`, { name: 'ERP', status: 'paused' }],
      [`/companies/${company}`, { name: 'Acme Ltd' }],
    ] as const)
      expect((await owner.ask('PATCH', path, body)).status, path).to.equal(200)
  })
})

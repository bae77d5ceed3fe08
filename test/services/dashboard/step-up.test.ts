// Changes that a stolen session must not make alone: in a session that has not proved lately whose it is, they are
// refused and change nothing.
import { expect } from 'chai'
import { OPERATIONS } from '../../../services/dashboard/admin-api.ts'
import { settingsThatNeedStepUp } from '../../../services/dashboard/apps/settings-step-up.ts'
import { stepUpRefusal } from '../../../services/dashboard/step-up.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { SETTINGS } from '../../../services/domain/tenancy/setting-list.ts'
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
    ['the limit of another login', {}, { limits: { app_hooks: rule(6_001, 60) } }, ['limits.app_hooks']],
    ['a lower limit, however high', { limits: { client_ip: rule(900) } }, { limits: { client_ip: rule(800) } }, []],
    ['more messages to one recipient', {}, { limits: { recipient: rule(51) } }, ['limits.recipient']],
    ['more guesses', {}, { limits: { recipient_verify: rule(300, 3_600) } }, ['limits.recipient_verify']],
    [
      'more without an address',
      {},
      { limits: { app_without_client_ip: rule(601, 60) } },
      ['limits.app_without_client_ip'],
    ],
    ['more by devices', {}, { limits: { app_publishable: rule(601, 60) } }, ['limits.app_publishable']],
    ['an own text of emails', {}, { texts: { email: text } }, ['texts.email']],
    [
      'numbers that cost their callers',
      {},
      { number_kinds: { refused: ['pager'], fixed_line: 'use' } },
      ['number_kinds.refused'],
    ],
    [
      'the number that WhatsApp users write to',
      {},
      { channels: { whatsapp: { business_number: '+15550001111' } } },
      ['channels.whatsapp.business_number'],
    ],
    [
      'the vendor of a widget',
      { challenge: { by: 'turnstile', site_key: 'a' } },
      { challenge: { by: 'pow', site_key: 'b', secret: 'hmac:AAAAAAAA', verify_url: URL } },
      ['challenge.by', 'challenge.site_key', 'challenge.secret', 'challenge.verify_url'],
    ],
    ['a cap that is raised', { spend_caps: { '*': 5 } }, { spend_caps: { '*': 5, GB: 6 } }, ['spend_caps']],
    ['a cap that is taken away', { spend_caps: { GB: 5 } }, {}, ['spend_caps']],
    ['a cap that is lower', { spend_caps: { GB: 5 } }, { spend_caps: { '*': 9, GB: 4 } }, []],
    ['a shorter retention', { retention_days: 30 }, { retention_days: 29 }, ['retention_days']],
    ['a retention below the default', {}, { retention_days: 29 }, ['retention_days']],
    ['a longer retention', {}, { retention_days: 31 }, []],
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

  it('are all tried here', () => {
    const tried = new Set(cases.flatMap(([, , , needs]) => needs))
    expect(SETTINGS.filter(({ path, stepUp }) => stepUp !== null && !tried.has(path)).map(({ path }) => path)).to.be
      .empty
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
    const settings = { publishable_send: true, spend_caps: { '*': 5 } }
    const app = await made(`/companies/${company}/apps`, { name: 'Shop', settings })
    const key = await made(`/apps/${app}/keys`, { kind: 'server', mode: 'live' })
    const endpoint = await made(`/apps/${app}/endpoints`, {
      name: 'CRM',
      url: URL,
      events: ['otp.approved'],
      payload: 'full',
    })
    const user = (await userBrowser(admin, company, 'viewer')).user._id
    const operator = await signIn(admin.url, { token: 'token-of-ada' })
    const calls: [id: string, path: string, body?: unknown, by?: Browser, headers?: Record<string, string>][] = [
      ...[
        { texts: { sms: { en: { text: '{code} is your code for {app}.' } } } },
        { text_links: true },
        { fraud_guard: { mode: 'off' } },
        { publishable_challenge: 'off' },
        { limits: { client_ip: [{ max: 1_001, seconds: 600 }] } },
        { spend_caps: null },
        { number_kinds: { refused: [] } },
      ].map(settings => ['changeApp', `/apps/${app}`, { settings }] as [id: string, path: string, body: unknown]),
      ['changeApp', `/apps/${app}`, { closed: true }],
      ['changeApp', `/apps/${app}`, { settings: { retention_days: 29 } }],
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
      ['exportRecipient', `/apps/${app}/export`, { recipient: '+14155550123' }],
      ['eraseRecipientInCompany', `/companies/${company}/erase`, { recipient: '+14155550123' }],
      ['inviteUser', `/companies/${company}/users`, { email: 'new@shop.example', role: 'viewer' }],
      ['changeUser', `/users/${user}`, { role: 'owner' }],
      ['deleteUser', `/users/${user}`],
      ['creditCompany', `/companies/${company}/credit`, { micros: 5, note: 'x' }, operator],
      ['changeCompany', `/companies/${company}`, { closed: true }, operator],
      ['removeRecipientRule', '/recipients/rcp_x'],
      ['deleteApp', `/apps/${app}`],
      ['deleteCompany', `/companies/${company}`],
      ['replacePrices', '/prices', { prices: [] }, operator],
      ['stampUsers', '/users/stamp', { ids: ['usr_x'] }, operator],
      ['replayErasures', '/erasures/replay', {}, operator, { 'Content-Type': 'application/x-ndjson' }],
    ]
    await admin.clock.advance(STEP_UP_MS)
    const audited = () => store.docs('audit').find({}, { sort: { _id: -1 }, limit: 1 })
    const before = await audited()
    for (const [id, path, body, by = owner, headers] of calls) {
      const declared = OPERATIONS.find(one => one.id === id)
      const answer = await by.ask((declared?.method ?? '').toUpperCase(), path, body, headers)
      expect(answer.body, `${id} ${answer.text}`).to.include({ status: 403, type: 'StepUpRequiredError' })
    }
    expect(await audited()).to.deep.equal(before)
    const untried = OPERATIONS.filter(
      ({ id, refusals }) => refusals.includes(stepUpRefusal) && !calls.some(([tried]) => tried === id),
    )
    expect(untried.map(({ id }) => id)).to.have.members(['startPasskey', 'addPasskey'])
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

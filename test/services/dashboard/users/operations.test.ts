// Users of a company: inviting, accepting, changing the role, removing. Their addresses and names are readable nowhere in the store.
import { expect } from 'chai'
import { ensureConsole } from '../../../../services/domain/bootstrap/console.ts'
import { CONSOLE_COMPANY_ID } from '../../../../services/domain/tenancy/console.ts'
import type { UserDoc } from '../../../../services/domain/users/documents.ts'
import { renewUserStamps } from '../../../../services/domain/users/user-stamps.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { type Browser, browserOfUser, userBrowser } from '../../../support/dashboard-session.ts'
import { collectionsContaining } from '../../../support/raw-documents.ts'
import { eachStore } from '../../../support/stores.ts'
import { interceptWrites, keyringOf } from '../../../support/tenancy.ts'
import { addUser, testGrants } from '../../../support/users.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

eachStore('the users of a company', fresh => {
  let admin: TestAdmin
  let company: string
  beforeEach(async () => {
    admin = await startAdmin(await fresh())
    company = (await createTenant(admin)).company
  })
  afterEach(closeAdmins)

  const invite = (email: unknown, to = company, more: object = {}) =>
    admin.ask('POST', `/companies/${to}/users`, { email, role: 'viewer', ...more })
  const list = async () => (await admin.get(`/companies/${company}/users`)).body.items
  const rolesNow = async (): Promise<string[]> => (await list()).map(({ role }: { role: string }) => role).sort()

  it('are invited with a role, listed, changed and removed, and each change is audited', async () => {
    await admin.clock.advance(1)
    const invited = await invite('Ada@Shop.Example', company, { role: 'owner', name: 'Ada Lovelace' })
    expect(invited.status).to.equal(201)
    expect(invited.body).to.include({
      company_id: company,
      email: 'Ada@shop.example',
      name: 'Ada Lovelace',
      role: 'owner',
    })
    expect(invited.body.last_sign_in_at).to.equal(null)
    expect(Date.parse(invited.body.invited_until)).to.equal(admin.clock.now() + 14 * DAY_MS)
    const { id } = invited.body
    await admin.clock.advance(1)
    const { mailed, ...user } = invited.body
    expect(mailed, 'without an email provider').to.equal(false)
    expect(await list()).to.deep.equal([user])
    expect((await admin.ask('PATCH', `/users/${id}`, { role: 'viewer' })).body).to.deep.equal({
      ...user,
      role: 'viewer',
    })
    await admin.clock.advance(1)
    expect((await admin.ask('DELETE', `/users/${id}`)).status).to.equal(204)
    expect(await list()).to.deep.equal([])
    expect((await admin.ask('DELETE', `/users/${id}`)).status).to.equal(404)
    const records = (await admin.get(`/audit?company_id=${company}`)).body.items.slice(0, 3).reverse()
    const masked = (role: string) => ({ email: 'A****@shop.example', role })
    expect(records.map(({ action, before, after }: Record<string, unknown>) => [action, before, after])).to.deep.equal([
      ['invitation.create', null, masked('owner')],
      ['invitation.change', { role: 'owner' }, { role: 'viewer' }],
      ['invitation.delete', masked('viewer'), null],
    ])
  })

  it('have addresses and names that are readable nowhere, and leave nothing but a masked address in the audit log', async () => {
    const { id } = (await invite('ada.lovelace@shop.example', company, { name: 'Countess Lovelace' })).body
    for (const text of ['ada.lovelace', 'Countess']) {
      expect(await collectionsContaining(admin.store, text), text).to.deep.equal([])
      expect(admin.captured.output()).not.to.include(text)
    }
    const { email, sealed_email, sealed_name } = await storedUser(id)
    await admin.ask('DELETE', `/users/${id}`)
    for (const trace of [email, sealed_email, sealed_name])
      expect(await collectionsContaining(admin.store, trace ?? ''), trace ?? '').to.deep.equal([])
    expect(await collectionsContaining(admin.store, 'a****@shop.example')).to.deep.equal(['audit'])
  })

  it('are invited once: a second invitation in any spelling renews the first', async () => {
    const first = (await invite('ada@bücher.example')).body
    for (const email of [
      'ada@bücher.example',
      'ADA@BÜCHER.example',
      'ada@xn--bcher-kva.example',
      'ada@bücher.example'.normalize('NFD'),
      ' ada@bücher.example ',
    ]) {
      await admin.clock.advance(1)
      const again = await invite(email, company, { role: 'developer', name: 'Ada' })
      const invited_until = new Date(admin.clock.now() + 14 * DAY_MS).toISOString()
      expect(again.status, email).to.equal(201)
      expect(again.body).to.deep.equal({ ...first, role: 'developer', name: 'Ada', invited_until })
    }
    const rotating = await startAdmin(admin.store, { keyring: [2, 1], clock: admin.clock })
    const body = { email: 'ada@bücher.example', role: 'viewer' }
    const again = await rotating.ask('POST', `/companies/${company}/users`, body)
    expect(again.body.id, 'while data keys rotate').to.equal(first.id)
    expect(await list()).to.have.length(1)
  })

  it('are not invited where they are users already, but wherever else they are, and the answer does not tell', async () => {
    await addUser(admin.store, company, 'viewer', admin.keyring, 'eve@shop.example')
    const refused = await invite('EVE@shop.example')
    expect(refused.status).to.equal(409)
    expect(refused.body.detail).to.include('belongs to a user of this company already')
    const other = (await createTenant(admin)).company
    await addUser(admin.store, other, 'owner', admin.keyring, 'ada@shop.example')
    await invite('bob@shop.example', other)
    const strip = ({ id, email, created_at, invited_until, ...rest }: Record<string, unknown>) => rest
    const answers = [
      await invite('ada@shop.example'),
      await invite('bob@shop.example'),
      await invite('new@shop.example'),
    ]
    for (const { status, body } of answers) {
      expect(status).to.equal(201)
      expect(strip(body)).to.deep.equal(strip(answers[2]?.body))
    }
  })

  it('are invited once by invitations at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => invite('ada@shop.example')))
    expect(all.map(({ status }) => status)).to.deep.equal(Array(8).fill(201))
    expect(new Set(all.map(({ body }) => body.id))).to.have.property('size', 1)
    expect(await list()).to.have.length(1)
  })

  it('change while those of another company are being changed, in the same process and in another', async () => {
    const { company: other } = await createTenant(admin)
    const answers: number[] = []
    const store = interceptWrites(admin.store, {
      async before(call) {
        if (call !== 'users.insert' || answers.length > 0) return
        answers.push(0)
        const invited = { email: 'eve@other.example', role: 'viewer' }
        answers.push((await busy.ask('POST', `/companies/${other}/users`, invited)).status)
        answers.push((await invite('ada@other.example', other)).status)
      },
    })
    const busy = await startAdmin(store)
    expect(
      (await busy.ask('POST', `/companies/${company}/users`, { email: 'a@a.example', role: 'viewer' })).status,
    ).to.equal(201)
    expect(answers).to.deep.equal([0, 201, 201])
  })

  it('make twenty invitations a day at most, and three to one address; operators and other companies are not counted', async () => {
    const { browser } = await userBrowser(admin, company, 'owner')
    const byOwner = (email: string) => browser.ask('POST', `/companies/${company}/users`, { email, role: 'viewer' })
    for (let at = 0; at < 3; at += 1) expect((await byOwner('ada@shop.example')).status).to.equal(201)
    const refused = await byOwner('ada@shop.example')
    expect(refused.status).to.equal(429)
    expect(refused.body).to.include({
      type: 'RateLimitExceededError',
      scope: 'invitations',
      retry_after: DAY_MS / 1000,
    })
    for (let at = 0; at < 17; at += 1) expect((await byOwner(`ada${at}@shop.example`)).status).to.equal(201)
    expect((await byOwner('bob@shop.example')).status).to.equal(429)
    expect((await invite('ada@shop.example')).status).to.equal(201)
    const elsewhere = await createTenant(admin)
    const other = await userBrowser(admin, elsewhere.company, 'owner')
    const body = { email: 'ada@shop.example', role: 'viewer' }
    expect((await other.browser.ask('POST', `/companies/${elsewhere.company}/users`, body)).status).to.equal(201)
    await admin.clock.advance(DAY_MS)
    expect((await byOwner('ada@shop.example')).status, 'the session has ended').to.equal(401)
    const owner = await userBrowser(admin, company, 'owner')
    const again = await owner.browser.ask('POST', `/companies/${company}/users`, body)
    expect(again.status).to.equal(201)
  })

  it('are not the console’s: its owner could read the codes of all others', async () => {
    await ensureConsole(admin)
    expect((await invite('eve@shop.example', CONSOLE_COMPANY_ID)).status).to.equal(409)
    expect((await admin.get(`/companies/${CONSOLE_COMPANY_ID}/users`)).body.items).to.deep.equal([])
  })

  it('keep at least one owner, unless an operator takes the last one', async () => {
    const { browser, user } = await userBrowser(admin, company, 'owner')
    for (const [method, body] of [['PATCH', { role: 'viewer' }], ['DELETE']] as const) {
      const refused = await browser.ask(method, `/users/${user._id}`, body)
      expect(refused.status, method).to.equal(409)
      expect(refused.body.detail).to.include('at least one owner')
    }
    const invited = (await invite('eve@shop.example', company, { role: 'owner' })).body.id
    expect((await browser.ask('DELETE', `/users/${user._id}`)).status, 'with an invited owner').to.equal(409)
    expect((await browser.ask('DELETE', `/users/${invited}`)).status).to.equal(204)
    const other = await addUser(admin.store, company, 'owner')
    expect((await browser.ask('PATCH', `/users/${user._id}`, { role: 'viewer' })).status).to.equal(200)
    expect((await admin.ask('DELETE', `/users/${other._id}`)).status).to.equal(204)
    expect(await rolesNow()).to.deep.equal(['viewer'])
  })

  it('keep one owner when two owners remove each other at the same time', async () => {
    const one = await userBrowser(admin, company, 'owner')
    const other = await userBrowser(admin, company, 'owner')
    const elsewhere = await startAdmin(admin.store, { clock: admin.clock })
    const headers = {
      Cookie: `countersign_session=${other.browser.cookie}`,
      Origin: elsewhere.url,
      'X-CSRF-Token': other.browser.csrf,
    }
    const path = `/users/${one.user._id}`
    let isDone = false
    const both = Promise.all([
      one.browser.ask('DELETE', `/users/${other.user._id}`),
      elsewhere.ask('DELETE', path, undefined, { token: null, headers }),
    ]).finally(() => {
      isDone = true
    })
    // The one that comes second waits for the lease of the first.
    while (!isDone) await admin.clock.advance(25)
    await both
    expect(await rolesNow()).to.deep.equal(['owner'])
  })

  it('without a stamp are stamped by an operator, one by one, and those that somebody changed are not', async () => {
    const { browser, user } = await userBrowser(admin, company, 'viewer')
    const forged = await addUser(admin.store, company, 'viewer')
    const users = admin.store.docs('users')
    await users.modify({ _id: user._id }, { $unset: { mac: true } })
    await users.modify({ _id: forged._id }, { $set: { role: 'owner' } })
    expect((await browser.ask('GET', '/me')).status).to.equal(401)
    for (const { _id } of [user, forged])
      expect((await admin.ask('PATCH', `/users/${_id}`, { role: 'developer' })).status).to.equal(409)
    const unstamped = async () => (await admin.get('/users/unstamped')).body.items.map(({ id }: { id: string }) => id)
    expect(await unstamped()).to.deep.equal([user._id])
    await admin.clock.advance(1)
    const stamped = await admin.ask('POST', '/users/stamp', { ids: [user._id, forged._id] })
    expect(stamped.body.items.map(({ id }: { id: string }) => id)).to.deep.equal([user._id])
    expect(await unstamped()).to.deep.equal([])
    expect((await browser.ask('GET', '/me')).status).to.equal(200)
    expect((await admin.ask('POST', '/users/stamp', { ids: ['usr_unknown'] })).status).to.equal(404)
    const [record] = (await admin.get(`/audit?company_id=${company}&limit=1`)).body.items
    expect(record).to.include({ action: 'user.stamp', target: user._id })
  })

  it('are stamped anew at the start of a dashboard with a new code secret, and only then', async () => {
    const [user, unstamped] = [
      await addUser(admin.store, company, 'viewer'),
      await addUser(admin.store, company, 'viewer'),
    ]
    const users = admin.store.docs('users')
    await users.modify({ _id: unstamped._id }, { $unset: { mac: true } })
    const { log, output } = createCapturedLog()
    const macs = async () => [...(await users.get([user._id, unstamped._id])).values()].map(({ mac }) => mac)
    for (const codeSecrets of [[1], [2, 1]])
      await renewUserStamps({ store: admin.store, grants: testGrants(keyringOf([1], codeSecrets)), log })
    expect((await macs()).map(mac => mac?.slice(0, 3))).to.have.members(['c2.', undefined])
    expect(output()).to.include('users.unstamped').and.to.include('"count":1')
    const before = await macs()
    await renewUserStamps({ store: admin.store, grants: testGrants(keyringOf([1], [3])), log })
    expect(await macs(), 'no stamp for a user whose secret is gone').to.deep.equal(before)
  })

  const ADA = 'ada@shop.example'
  const storedUser = async (id: string): Promise<UserDoc> =>
    (await admin.store.docs('users').get([id])).get(id) as UserDoc
  const inviteAda = async (to = company, more: object = {}): Promise<UserDoc> =>
    storedUser((await invite(ADA, to, more)).body.id)
  const me = async (browser: Browser) => (await browser.ask('GET', '/me')).body

  it('who are only invited see their invitations and nothing else, and their company learns nothing', async () => {
    await admin.clock.advance(1)
    const browser = await browserOfUser(admin, await inviteAda(company, { role: 'owner', name: 'Ada' }))
    const { name } = (await admin.get(`/companies/${company}`)).body
    const { id, ...shown } = await me(browser)
    expect(shown).to.include({ email: ADA, role: null, company_id: null })
    expect(shown.memberships).to.deep.equal([])
    expect(shown.invitations).to.deep.equal([{ id, company_name: name, role: 'owner' }])
    expect((await browser.ask('POST', '/sign-out')).status).to.equal(204)
    const records = (await admin.get(`/audit?company_id=${company}`)).body.items
    expect(records[0]).to.include({ action: 'invitation.create' })
    expect((await list())[0].last_sign_in_at).to.equal(null)
  })

  it('who accept are members, in the same session time, and the invitation is gone', async () => {
    const invited = await inviteAda(company, { role: 'owner' })
    const browser = await browserOfUser(admin, invited)
    const former = browser.cookie
    await admin.clock.advance(HOUR_MS)
    const accepted = await browser.ask('POST', `/invitations/${invited._id}/accept`)
    expect(accepted.status, accepted.text).to.equal(200)
    expect(accepted.body).to.include({ id: invited._id, role: 'owner', company_id: company })
    expect(accepted.body.invitations).to.deep.equal([])
    expect(accepted.body.memberships.map((one: { company_id: string }) => one.company_id)).to.deep.equal([company])
    expect(browser.cookie).not.to.equal(former)
    expect((await browser.ask('POST', `/companies/${company}/apps`, { name: 'Shop' })).status).to.equal(201)
    expect((await browser.ask('POST', `/invitations/${invited._id}/accept`)).status).to.equal(404)
    const user = await storedUser(invited._id)
    expect(user).not.to.have.any.keys('invited_until', 'purge_at')
    expect((await list())[0]).to.include({ invited_until: null })
    const [session] = await admin.store.docs('sessions').find({}, { sort: { _id: -1 }, limit: 1 })
    expect(session?.expires_at, 'twelve hours from the sign-in').to.equal(admin.clock.now() + 11 * HOUR_MS)
    expect(session?.stepped_up_at, 'no new proof').to.equal(admin.clock.now() - HOUR_MS)
    const { items } = (await admin.get(`/audit?company_id=${company}`)).body
    const record = items.find(({ action }: { action: string }) => action === 'invitation.accept')
    expect(record).to.include({ who: `${invited._id} (a****@shop.example)`, outcome: 'done' })
  })

  it('who decline leave nothing behind, and are signed out where nothing else is theirs', async () => {
    const elsewhere = (await createTenant(admin)).company
    const [one, other] = [await inviteAda(), await inviteAda(elsewhere)]
    const browser = await browserOfUser(admin, one)
    const declined = await browser.ask('POST', `/invitations/${one._id}/decline`)
    expect(declined.status, declined.text).to.equal(200)
    expect(declined.body.me.invitations.map(({ id }: { id: string }) => id)).to.deep.equal([other._id])
    expect(await list()).to.deep.equal([])
    expect((await browser.ask('POST', `/invitations/${other._id}/decline`)).body).to.deep.equal({ me: null })
    expect(browser.cookie).to.equal(null)
    for (const trace of [one.email, one.sealed_email, other.sealed_email])
      expect(await collectionsContaining(admin.store, trace)).to.deep.equal([])
    expect(await admin.store.docs('sessions').find({}, { sort: { _id: 1 }, limit: 1 })).to.deep.equal([])
  })

  it('of several companies choose one, and a session acts there only', async () => {
    const elsewhere = (await createTenant(admin)).company
    const { browser, user } = await userBrowser(admin, company, 'owner', ADA)
    const other = await addUser(admin.store, elsewhere, 'viewer', admin.keyring, 'ADA@shop.example')
    const before = browser.cookie
    expect((await browser.ask('GET', `/companies/${elsewhere}`)).status).to.equal(404)
    expect((await browser.ask('POST', '/me/company', { company_id: 'cmp_x' })).status).to.equal(404)
    const chosen = await browser.ask('POST', '/me/company', { company_id: elsewhere })
    expect(chosen.body, chosen.text).to.include({ id: other._id, company_id: elsewhere, role: 'viewer' })
    expect(chosen.body.memberships.map((one: { role: string }) => one.role)).to.deep.equal(['owner', 'viewer'])
    expect((await browser.ask('GET', `/companies/${company}`)).status).to.equal(404)
    expect((await browser.ask('GET', `/companies/${elsewhere}`)).status).to.equal(200)
    const headers = { Cookie: `countersign_session=${before}` }
    expect((await browser.ask('GET', '/me', undefined, headers)).status, 'the former session').to.equal(401)
    const here = await browserOfUser(admin, user)
    expect((await here.ask('GET', '/sessions')).body.items, 'in all companies').to.have.length(2)
    expect((await admin.ask('DELETE', `/users/${other._id}`)).status).to.equal(204)
    expect([(await browser.ask('GET', '/me')).status, (await here.ask('GET', '/me')).status]).to.deep.equal([401, 200])
  })

  it('accept their own invitations only, while they are good, and none of a closed company', async () => {
    const invited = await inviteAda()
    const { browser: stranger } = await userBrowser(admin, (await createTenant(admin)).company, 'owner')
    for (const answer of ['accept', 'decline'])
      expect((await stranger.ask('POST', `/invitations/${invited._id}/${answer}`)).status).to.equal(404)
    await admin.ask('PATCH', `/companies/${company}`, { closed: true })
    const closed = await (await browserOfUser(admin, invited)).ask('POST', `/invitations/${invited._id}/accept`)
    expect(closed.status).to.equal(409)
    await admin.ask('PATCH', `/companies/${company}`, { closed: false })
    await admin.clock.advance(14 * DAY_MS - 1)
    const member = await userBrowser(admin, (await createTenant(admin)).company, 'owner', ADA)
    const browser = await browserOfUser(admin, invited)
    expect((await me(member.browser)).invitations).to.have.length(1)
    expect((await me(browser)).invitations).to.have.length(1)
    await admin.clock.advance(1)
    expect((await browser.ask('POST', `/invitations/${invited._id}/accept`)).status).to.equal(401)
    expect((await member.browser.ask('POST', `/invitations/${invited._id}/accept`)).status).to.equal(404)
    expect((await me(member.browser)).invitations).to.deep.equal([])
    expect(invited.purge_at?.getTime()).to.equal(admin.clock.now())
  })

  it('accept once, also twice at the same time, and never what was revoked', async () => {
    const invited = await inviteAda()
    const [one, other] = [await browserOfUser(admin, invited), await browserOfUser(admin, invited)]
    const path = `/invitations/${invited._id}/accept`
    const statuses = (await Promise.all([one.ask('POST', path), other.ask('POST', path)])).map(({ status }) => status)
    expect(statuses)
      .to.include(200)
      .and.to.satisfy((all: number[]) => all.every(status => [200, 404].includes(status)))
    await admin.ask('DELETE', `/users/${invited._id}`)
    const again = await inviteAda()
    const browser = await browserOfUser(admin, again)
    await admin.ask('DELETE', `/users/${again._id}`)
    expect((await browser.ask('POST', `/invitations/${again._id}/accept`)).status).to.equal(401)
    expect(await list()).to.deep.equal([])
  })

  it('are not made of invitations by who can write to the store, nor given the users of another person', async () => {
    const users = admin.store.docs('users')
    for (const update of [
      { $unset: { invited_until: true } },
      { $set: { invited_until: Date.UTC(2100, 0, 1) } },
      { $set: { role: 'owner' } },
    ] as const) {
      const invited = await inviteAda()
      const browser = await browserOfUser(admin, invited)
      await users.modify({ _id: invited._id }, update)
      expect((await browser.ask('GET', '/me')).status, JSON.stringify(update)).to.equal(401)
      expect((await invite(ADA)).status, 'inviting again makes nothing good').to.equal(409)
      await users.remove({ _id: invited._id }, 1)
    }
    const elsewhere = (await createTenant(admin)).company
    const eve = await userBrowser(admin, elsewhere, 'viewer')
    const { user: owner } = await userBrowser(admin, company, 'owner')
    await users.modify({ _id: owner._id }, { $set: { email: eve.user.email } })
    expect((await me(eve.browser)).memberships).to.have.length(1)
    expect((await eve.browser.ask('POST', '/me/company', { company_id: company })).status).to.equal(404)
  })

  it('are two people where their addresses differ in a letter that only looks the same in lower case', async () => {
    const elsewhere = (await createTenant(admin)).company
    // The Kelvin sign.
    const eve = await userBrowser(admin, elsewhere, 'owner', '\u212aelvin@shop.example')
    await addUser(admin.store, company, 'owner', admin.keyring, 'kelvin@shop.example')
    expect((await me(eve.browser)).memberships).to.have.length(1)
    expect((await eve.browser.ask('POST', '/me/company', { company_id: company })).status).to.equal(404)
  })
})

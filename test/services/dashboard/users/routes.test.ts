// Users of a company: inviting, changing the role, removing. Their addresses and names are readable nowhere in the store.
import { expect } from 'chai'
import { ensureConsole } from '../../../../services/domain/bootstrap/console.ts'
import { CONSOLE_COMPANY_ID } from '../../../../services/domain/users/console.ts'
import { renewUserStamps } from '../../../../services/domain/users/user-stamps.ts'
import { closeAdmins, createTenant, errorPaths, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { userBrowser } from '../../../support/dashboard-session.ts'
import { collectionsContaining } from '../../../support/raw-documents.ts'
import { eachStore } from '../../../support/stores.ts'
import { keyringOf } from '../../../support/tenancy.ts'
import { addUser, testGrants } from '../../../support/users.ts'

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
    const { id } = invited.body
    await admin.clock.advance(1)
    expect(await list()).to.deep.equal([invited.body])
    expect((await admin.ask('PATCH', `/users/${id}`, { role: 'viewer' })).body).to.deep.equal({
      ...invited.body,
      role: 'viewer',
    })
    await admin.clock.advance(1)
    expect((await admin.ask('DELETE', `/users/${id}`)).status).to.equal(204)
    expect(await list()).to.deep.equal([])
    expect((await admin.ask('DELETE', `/users/${id}`)).status).to.equal(404)
    const records = (await admin.get(`/audit?company_id=${company}`)).body.items.slice(0, 3).reverse()
    const masked = (role: string) => ({ email: 'A****@shop.example', role })
    expect(records.map(({ action, before, after }: Record<string, unknown>) => [action, before, after])).to.deep.equal([
      ['user.create', null, masked('owner')],
      ['user.change', masked('owner'), masked('viewer')],
      ['user.delete', masked('viewer'), null],
    ])
  })

  it('have addresses and names that are readable in no collection and no log line', async () => {
    await invite('ada.lovelace@shop.example', company, { name: 'Countess Lovelace' })
    for (const text of ['ada.lovelace', 'Countess']) {
      expect(await collectionsContaining(admin.store, text), text).to.deep.equal([])
      expect(admin.captured.output()).not.to.include(text)
    }
  })

  it('leave nothing but a masked address in the audit log once they are removed', async () => {
    const { id } = (await invite('ada.lovelace@shop.example', company, { name: 'Countess Lovelace' })).body
    const [stored] = (await admin.store.docs('users').get([id])).values()
    const traces = [stored?.email, stored?.sealed_email, stored?.sealed_name]
    await admin.ask('DELETE', `/users/${id}`)
    for (const trace of traces)
      expect(await collectionsContaining(admin.store, trace ?? ''), trace ?? '').to.deep.equal([])
    expect(await collectionsContaining(admin.store, 'a****@shop.example')).to.deep.equal(['audit'])
  })

  it('are invited once: a second invitation is 409, in any spelling and from any company', async () => {
    const other = (await createTenant(admin)).company
    expect((await invite('ada@bücher.example')).status).to.equal(201)
    for (const [email, to] of [
      ['ada@bücher.example', company],
      ['ADA@BÜCHER.example', company],
      ['ada@xn--bcher-kva.example', company],
      ['ada@bücher.example'.normalize('NFD'), company],
      [' ada@bücher.example ', company],
      ['ada@bücher.example', other],
    ] as const) {
      const refused = await invite(email, to)
      expect(refused.status, email).to.equal(409)
      expect(refused.body.detail).to.include('belongs to a user already')
    }
    expect(await list()).to.have.length(1)
  })

  it('are invited once by invitations at the same time', async () => {
    const statuses = (await Promise.all(Array.from({ length: 8 }, () => invite('ada@shop.example')))).map(
      one => one.status,
    )
    expect(statuses.sort()).to.deep.equal([201, ...Array(7).fill(409)])
    expect(await list()).to.have.length(1)
  })

  it('are invited once while data keys rotate: an address is found under every key', async () => {
    const during = await startAdmin(admin.store, { keyring: [2, 1] })
    expect((await invite('ada@shop.example')).status).to.equal(201)
    const body = { email: 'ada@shop.example', role: 'viewer' }
    expect((await during.ask('POST', `/companies/${company}/users`, body)).status).to.equal(409)
  })

  const malformed: [unknown, string][] = [
    ['ada', 'email'],
    ['+14155550123', 'email'],
    ['ada@shop.example\r\nBcc: eve@evil.example', 'email'],
    ['"ada\\r\\n"@shop.example', 'email'],
    ['Ada <ada@shop.example>', 'email'],
    ['ada@shop.example,eve@evil.example', 'email'],
    ['ada\u200b@shop.example', 'email'],
    ['ada\u0000@shop.example', 'email'],
    ['ada@127.0.0.1', 'email'],
    [null, 'email'],
  ]
  for (const [email, path] of malformed)
    it(`are not invited at ${JSON.stringify(email)}`, async () => {
      const refused = await invite(email)
      expect(refused.status).to.equal(422)
      expect(errorPaths(refused)).to.deep.equal([path])
    })

  it('cannot be operators', async () => {
    const { browser } = await userBrowser(admin, company, 'owner')
    const path = `/companies/${company}/users`
    expect((await browser.ask('POST', path, { email: 'eve@shop.example', role: 'operator' })).status).to.equal(422)
    const [{ id }] = await list()
    expect((await browser.ask('PATCH', `/users/${id}`, { role: 'operator' })).status).to.equal(422)
    expect((await browser.ask('PATCH', `/users/${id}`, { role: 'owner', company_id: 'cmp_x' })).status).to.equal(422)
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

  it('of an earlier release are stamped by an operator, one by one, and those that somebody changed are not', async () => {
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
})

// Signing in with a code, with an OTP actor that the test plays: what a caller learns from the answers and their times.
import { expect } from 'chai'
import type { Message } from '../../../../infra/broker/broker.ts'
import type { OtpAnswer, OtpCall } from '../../../../machines/calls.ts'
import { ensureConsole } from '../../../../services/domain/bootstrap/console.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { type AdminOptions, closeAdmins, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { testClock } from '../../../support/clock.ts'
import { createVisitor, post, type Visitor } from '../../../support/dashboard-session.ts'
import { eventually } from '../../../support/eventually.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { addUser } from '../../../support/users.ts'

const REFUSAL_MS = 250

onEmbeddedStore('a code for signing in', fresh => {
  let store: CountersignStore
  beforeEach(async () => {
    store = await fresh()
    await ensureConsole({ store, clock: testClock() })
  })
  afterEach(closeAdmins)

  const wrong: OtpAnswer = {
    kind: 'verified',
    otp_id: 'otp_x',
    status: 'pending',
    matched: false,
    attempts_left: 4,
    sealed_token: null,
  }
  /** A dashboard with an OTP actor that answers every call alike, and the calls that it got. */
  async function start(answer: OtpAnswer, options: AdminOptions = {}): Promise<{ admin: TestAdmin; calls: OtpCall[] }> {
    const calls: OtpCall[] = []
    const request = async (_: string, message: Message) => {
      calls.push(message.body as OtpCall)
      return answer
    }
    const broker = { publish: async () => {}, request }
    return { admin: await startAdmin(store, { ...options, broker }), calls }
  }
  /** A browser that has asked for a code to these addresses, once the actor has got its calls. */
  async function browserThatAsked(
    { admin, calls }: { admin: TestAdmin; calls: OtpCall[] },
    ...emails: string[]
  ): Promise<Visitor> {
    const visitor = createVisitor(admin.url)
    for (const email of emails) await visitor.enter({ email })
    await eventually(() => expect(calls).to.have.length(1))
    calls.splice(0)
    return visitor
  }
  const newUser = async (): Promise<string> => (await addUser(store, 'cmp_1', 'owner'))._id.replace('usr_', 'user')

  it('is not sent in production without an email provider, and the answer says so to everyone', async () => {
    const { admin, calls } = await start(wrong, { production: true })
    const known = `${await newUser()}@shop.example`
    for (const email of [known, 'stranger@shop.example'])
      for (const body of [{ email }, { email, code: '123456' }]) {
        const { status, body: refusal } = await post(admin.url, body)
        expect(status).to.equal(409)
        expect(refusal.type).to.equal('NoEnabledChannelError')
        expect(refusal.detail).to.include('no email provider').and.to.include('app_console')
      }
    expect(calls).to.deep.equal([])
  })

  it('is promised before the address is looked up, so that the time of the answer tells nothing', async () => {
    let logWhenLookedUp = ''
    const slow: CountersignStore = {
      ...store,
      docs: name =>
        name !== 'users'
          ? store.docs(name)
          : {
              ...store.docs(name),
              find: () => {
                logWhenLookedUp = admin.captured.output()
                return new Promise(() => {})
              },
            },
    }
    const admin = await startAdmin(slow)
    expect((await post(admin.url, { email: 'ada@shop.example' })).status).to.equal(200)
    await eventually(() => expect(logWhenLookedUp).to.include('http.answered'))
  })

  it('is sent with a sealed address, on behalf of the console, and of its caller’s address', async () => {
    const { admin, calls } = await start(wrong)
    const email = `${await newUser()}@shop.example`
    await post(admin.url, { email })
    await eventually(() => expect(calls).to.have.length(1))
    const [call] = calls
    expect(call?.type).to.equal('otp.send')
    expect(call?.by).to.deep.equal({
      key_id: 'key_console',
      kind: 'server',
      mode: 'test',
      app_id: 'app_console',
      company_id: 'cmp_console',
    })
    expect(JSON.stringify(call)).not.to.include(email)
  })

  it('is refused after the same time, with the same words, for a user and for a stranger', async () => {
    const { admin, calls } = await start(wrong)
    const known = `${await newUser()}@shop.example`
    const visitor = await browserThatAsked({ admin, calls }, known, 'stranger@shop.example')
    const details: string[] = []
    for (const email of [known, 'stranger@shop.example']) {
      let isAnswered = false
      const answer = visitor.enter({ email, code: '123456' }).finally(() => {
        isAnswered = true
      })
      const asked = calls.length + 1
      await eventually(() => expect(calls).to.have.length(asked))
      await admin.clock.advance(REFUSAL_MS - 1)
      expect(isAnswered, email).to.equal(false)
      await eventually(async () => {
        await admin.clock.advance(1)
        expect(isAnswered).to.equal(true)
      })
      expect((await answer).status).to.equal(401)
      details.push((await answer).body.detail)
    }
    expect(new Set(details).size).to.equal(1)
    expect(calls.map(({ type }) => type)).to.deep.equal(['otp.verify', 'otp.verify'])
  })

  it('is checked each time by another key, so that the actor repeats no answer', async () => {
    const right: OtpAnswer = { ...wrong, matched: true, status: 'approved' }
    const { admin, calls } = await start(right)
    const email = `${await newUser()}@shop.example`
    const keyIds = new Set<string | undefined>()
    for (let nth = 0; nth < 2; nth += 1) {
      const visitor = await browserThatAsked({ admin, calls }, email)
      expect((await visitor.enter({ email, code: '123456' })).status).to.equal(200)
      keyIds.add(calls.splice(0)[0]?.by.key_id)
    }
    expect(keyIds.size).to.equal(2)
  })

  it('is refused at once, without a call, to a browser that has not asked for one, or has two such cookies', async () => {
    const { admin, calls } = await start({ ...wrong, matched: true, status: 'approved' })
    const email = `${await newUser()}@shop.example`
    const visitor = await browserThatAsked({ admin, calls }, email)
    const flow = visitor.cookies.get('countersign_sign_in')
    const cookies = ['', 'countersign_sign_in=x', `countersign_sign_in=${flow}; countersign_sign_in=${'A'.repeat(43)}`]
    for (const Cookie of cookies)
      expect((await post(admin.url, { email, code: '123456' }, { Cookie })).status, Cookie).to.equal(401)
    expect(calls).to.deep.equal([])
    expect((await visitor.enter({ email, code: '123456' })).status).to.equal(200)
  })

  it('is not that of a verification that somebody wrote into the store for this browser', async () => {
    const { admin, calls } = await start({ ...wrong, matched: true, status: 'approved' })
    const email = `${await newUser()}@shop.example`
    const visitor = await browserThatAsked({ admin, calls }, email)
    const [flow] = await store.docs('sign_in_flows').find({}, { sort: { _id: 1 }, limit: 1 })
    await store.docs('sign_in_flows').modify({ _id: flow?._id ?? '' }, { $set: { otp_id: 'otp_known' } })
    const answer = visitor.enter({ email, code: '123456' })
    await eventually(() => expect(calls).to.have.length(1))
    expect(JSON.stringify(calls)).not.to.include('otp_known')
    await eventually(async () => {
      await admin.clock.advance(REFUSAL_MS)
      expect(admin.captured.output()).to.include('access.refused').and.to.include('sign_in.code_refused')
    })
    expect((await answer).status).to.equal(401)
  })

  it('is not sent to a user without a MAC, and this is logged', async () => {
    const { admin, calls } = await start(wrong)
    const user = await addUser(store, 'cmp_1', 'owner')
    await store.docs('users').modify({ _id: user._id }, { $unset: { mac: true } })
    await post(admin.url, { email: `${user._id.replace('usr_', 'user')}@shop.example` })
    await eventually(() => expect(admin.captured.output()).to.include('access.refused').and.to.include(user._id))
    expect(calls).to.deep.equal([])
  })

  it('comes with a cookie that is bound to this host under https, as the session does', async () => {
    const { admin } = await start(wrong, { publicUrl: 'https://console.example' })
    const { headers } = await post(admin.url, { email: 'ada@shop.example' })
    expect(headers.getSetCookie()).to.have.length(1)
    expect(headers.getSetCookie()[0]).to.match(
      /^__Host-countersign_sign_in=[\w-]{43}; Path=\/; Max-Age=3600; HttpOnly; SameSite=Strict; Secure$/,
    )
  })

  it('lets no stranger in, even if the actor says that it matched', async () => {
    const { admin } = await start({ ...wrong, matched: true, status: 'approved' })
    const statuses: number[] = []
    const visitor = createVisitor(admin.url)
    await visitor.enter({ email: 'stranger@shop.example' })
    const answer = visitor.enter({ email: 'stranger@shop.example', code: '123456' })
    const recorded = answer.then(({ status }) => statuses.push(status))
    await eventually(async () => {
      await admin.clock.advance(REFUSAL_MS)
      expect(statuses).to.deep.equal([401])
    })
    await recorded
  })

  it('is 503 when the OTP actor does not answer, for a user and for a stranger', async () => {
    const { url } = await startAdmin(store)
    for (const email of [`${await newUser()}@shop.example`, 'stranger@shop.example']) {
      const visitor = createVisitor(url)
      await visitor.enter({ email })
      expect((await visitor.enter({ email, code: '123456' })).status).to.equal(503)
    }
  })
})

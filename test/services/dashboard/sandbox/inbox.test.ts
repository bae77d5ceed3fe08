import { expect } from 'chai'
import { readInbox } from '../../../../services/dashboard/sandbox/inbox.ts'
import { CONSOLE_APP_ID } from '../../../../services/domain/tenancy/console.ts'
import { createTenancy } from '../../../../services/domain/tenancy/tenancy.ts'
import type { OtpDoc, SandboxMessageDoc } from '../../../../services/domain/verifications/documents.ts'
import { sandboxIndex } from '../../../../services/domain/verifications/lookup-indexes.ts'
import { testClock } from '../../../support/clock.ts'
import {
  codeOf,
  createTenant,
  insertOtp,
  lastDelivery,
  type OtpOptions,
  RECIPIENT,
  type StoreContext,
} from '../../../support/queued-otps.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { keyringOf, testKeyring } from '../../../support/tenancy.ts'

onEmbeddedStore('the sandbox inbox', fresh => {
  let world: StoreContext & { clock: ReturnType<typeof testClock> }

  beforeEach(async () => {
    world = { store: await fresh(), keyring: testKeyring(), clock: testClock() }
    await createTenant(world)
  })

  const read = (query: Partial<Parameters<typeof readInbox>[1]> = {}, keyring = world.keyring) =>
    readInbox({ store: world.store, keyring, tenancy: createTenancy({ ...world, keyring }) }, { limit: 10, ...query })

  async function insertMessage(options: OtpOptions = {}, message: Partial<SandboxMessageDoc> = {}): Promise<OtpDoc> {
    await world.clock.advance(1000)
    const doc = await insertOtp(world, options)
    const { delivery_id, generation } = lastDelivery(doc)
    await world.store.docs('sandbox_messages').insert([
      {
        _id: delivery_id,
        otp_id: doc._id,
        app_id: doc.app_id,
        company_id: doc.company_id,
        generation,
        locale: 'en',
        at: world.clock.now(),
        purge_at: doc.purge_at,
        recipient: sandboxIndex(world.keyring, options.recipient ?? RECIPIENT),
        ...message,
      },
    ])
    return doc
  }

  it('shows each message with its code and text', async () => {
    const doc = await insertMessage()
    const code = codeOf(world, doc)
    expect(await read()).to.deep.equal([
      {
        otp_id: doc._id,
        delivery_id: lastDelivery(doc).delivery_id,
        channel: 'sms',
        recipient: RECIPIENT,
        code,
        text: `${code} is your Shop verification code.`,
        at: world.clock.now(),
      },
    ])
  })

  it('is searched by recipient, in any spelling of an address', async () => {
    await insertMessage()
    const mail = await insertMessage({ recipient: 'Ada@example.com', order: ['email'] })
    const found = await read({ recipient: 'aDa@EXAMPLE.com' })
    expect(found.map(({ otp_id, channel, recipient }) => [otp_id, channel, recipient])).to.deep.equal([
      [mail._id, 'email', 'Ada@example.com'],
    ])
    expect(await read({ recipient: 'eve@example.com' })).to.deep.equal([])
  })

  it('is searched by company, with or without a recipient', async () => {
    const theirs = await insertMessage({}, { company_id: 'cmp_other' })
    await world.store.docs('otps').modify({ _id: theirs._id }, { $set: { 'context.company_id': 'cmp_other' } })
    const ours = await insertMessage()
    const ids = async (query: object) => (await read(query)).map(({ otp_id }) => otp_id)
    expect(await ids({ company_id: 'cmp_acme' })).to.deep.equal([ours._id])
    expect(await ids({ company_id: 'cmp_other', recipient: RECIPIENT })).to.deep.equal([theirs._id])
    expect(await ids({}), 'newest first').to.deep.equal([ours._id, theirs._id])
    expect(await ids({ limit: 1 })).to.deep.equal([ours._id])
  })

  it('shows no message that names the verification of another company or app', async () => {
    await insertMessage({}, { company_id: 'cmp_other' })
    await insertMessage({}, { app_id: 'app_other' })
    expect(await read()).to.deep.equal([])
    expect(await read({ company_id: 'cmp_other' })).to.deep.equal([])
  })

  it('shows codes for signing in to the dashboard to operators alone', async () => {
    await insertMessage({ app_id: CONSOLE_APP_ID }, { app_id: CONSOLE_APP_ID })
    expect(await read({ company_id: 'cmp_acme' })).to.deep.equal([])
  })

  it('finds and renders messages after a rotation of the keys', async () => {
    const doc = await insertMessage()
    const [message] = await read({ recipient: RECIPIENT }, keyringOf([2, 1], [2, 1]))
    expect(message?.code).to.equal(codeOf(world, doc))
  })

  it('leaves out messages that were erased, or whose keys are no longer configured', async () => {
    const erased = await insertMessage()
    await world.store.docs('otps').remove({ _id: erased._id }, 1)
    const kept = await insertMessage()
    expect((await read()).map(({ otp_id }) => otp_id)).to.deep.equal([kept._id])
    expect(await read({}, keyringOf([1], [9]))).to.deep.equal([])
  })

  it('renders a message in the language in which it was sent', async () => {
    await insertMessage({}, { locale: 'de' })
    const [message] = await read()
    expect(message?.text).to.match(/^\d{6} ist Ihr Shop-Bestätigungscode\.$/)
  })
})

import { expect } from 'chai'
import { type Caller, refusal } from '../support/api-caller.ts'
import { freshNumber, type StartedVerification, type Tenant } from '../support/flow.ts'
import { describeFlowOnce } from '../support/shared-flow.ts'

type Mode = 'link_code' | 'link_inbound'

const settings = (mode: Mode, more: object = {}) => ({
  channels: { whatsapp: { mode, business_number: '+15550001111' } },
  routing: { default: ['whatsapp', 'sms', 'telegram'] },
  resend_cooldown_seconds: [0],
  ...more,
})

/** The text that the link puts into the user's chat, ready to be sent. */
const textOf = (action_url: string): string => new URL(action_url).searchParams.get('text') ?? ''

describeFlowOnce('a wa.me link', flow => {
  const sendLink = async (
    by: Caller,
    to = freshNumber(),
  ): Promise<Omit<StartedVerification, 'code'> & { url: string }> => {
    const { body, text } = await by.send(to)
    expect(body.action_url, text).to.match(/^https:\/\/wa\.me\/15550001111\?text=/)
    return { otp_id: body.otp_id, to, url: body.action_url }
  }
  const receiveMessage = async ({ app }: Pick<Tenant, 'app'>, from: string, text: string): Promise<void> => {
    const { status } = await flow.admin('POST', '/sandbox/inbound', { app_id: app, from, text })
    expect(status).to.equal(200)
  }
  const waitForStatus = (by: Caller, otp_id: string, expected: string): Promise<unknown> =>
    flow.eventually(async () => expect((await by.status(otp_id)).body.status).to.equal(expected))

  /** The logged reasons why messages with the reference of a verification were ignored. */
  const ignoredReasons = (otp_id: string): unknown[] =>
    flow.countersign.log
      .lines()
      .filter(line => line.msg === 'message.ignored' && line.otp_id === otp_id)
      .map(({ outcome }) => outcome)

  describe('that fetches a code', () => {
    it('sends nothing until the user writes, and then answers with the code', async () => {
      const shop = await flow.createTenant(settings('link_code'))
      const { server } = shop
      const { otp_id, to, url } = await sendLink(server)
      expect((await server.status(otp_id)).body).to.deep.include({ completion: 'code', deliveries: [] })
      expect(textOf(url)).to.include('Shop')
      await receiveMessage(shop, to, textOf(url))
      const code = await flow.waitForCode(to)
      expect((await flow.inbox(to))[0]?.channel).to.equal('whatsapp')
      expect((await server.verify(otp_id, code)).body.matched).to.equal(true)
      expect((await server.status(otp_id)).body.action_url, 'the link is unchanged').to.equal(url)
    })

    it('counts each answer as a message to the recipient, and logs a message that the limit leaves unanswered', async () => {
      const shop = await flow.createTenant(
        settings('link_code', { limits: { recipient_messages: [{ max: 1, seconds: 3600 }] } }),
      )
      const { otp_id, to, url } = await sendLink(shop.server)
      await receiveMessage(shop, to, textOf(url))
      await flow.waitForCode(to, 1)
      await receiveMessage(shop, to, textOf(url))
      await flow.eventually(() => expect(ignoredReasons(otp_id)).to.deep.equal(['too_many_messages']))
      expect((await shop.server.status(otp_id)).body.deliveries).to.have.length(1)
    })
  })

  describe('that approves', () => {
    it('approves by the user’s message, without a code, and with one event', async () => {
      const shop = await flow.createTenant(settings('link_inbound'))
      const { server, app } = shop
      const { otp_id, to, url } = await sendLink(server)
      expect((await server.status(otp_id)).body.completion).to.equal('inbound')
      expect(refusal(await server.verify(otp_id, '123456'))).to.deep.equal({
        type: 'VerifyNotAllowedError',
        status: 409,
        cause: 'approved_by_message',
      })
      await receiveMessage(shop, to, `Hi! ${textOf(url)} Thanks`)
      await waitForStatus(server, otp_id, 'approved')
      expect((await server.status(otp_id)).body).to.deep.include({ attempts_left: 5, deliveries: [] })
      await flow.eventually(async () =>
        expect((await flow.events(app)).map(({ type, payload }) => [type, payload])).to.deep.equal([
          ['otp.approved', { otp_id, status: 'approved' }],
        ]),
      )
    })

    it('works only for the app that created it', async () => {
      const shop = await flow.createTenant(settings('link_inbound'))
      const other = await flow.createTenant(settings('link_inbound'))
      const [mine, theirs] = [await sendLink(shop.server), await sendLink(other.server)]
      await receiveMessage(other, mine.to, textOf(mine.url))
      await receiveMessage(other, theirs.to, textOf(theirs.url))
      await waitForStatus(other.server, theirs.otp_id, 'approved')
      expect((await shop.server.status(mine.otp_id)).body.status).to.equal('pending')
    })

    it('is not offered to a publishable key, which could never prove the approval', async () => {
      const { device, server } = await flow.createTenant(settings('link_inbound'))
      const { otp_id } = await flow.startVerification(device)
      expect((await server.status(otp_id)).body).to.include({ channel: 'sms', completion: 'code', action_url: null })
      expect(refusal(await device.resend(otp_id, 'whatsapp'))).to.include({
        type: 'ResendNotAllowedError',
        cause: 'channel_not_provable_by_device',
      })
    })
  })

  describe('after a resend', () => {
    it('to WhatsApp is replaced by a new link, and the old one does nothing', async () => {
      const shop = await flow.createTenant(settings('link_inbound'))
      const { otp_id, to, url } = await sendLink(shop.server)
      const fresh: string = (await shop.server.resend(otp_id, 'whatsapp')).body.action_url
      expect(fresh)
        .to.match(/^https:\/\/wa\.me\//)
        .and.not.equal(url)
      await receiveMessage(shop, to, textOf(url))
      const other = await sendLink(shop.server)
      await receiveMessage(shop, other.to, textOf(other.url))
      await waitForStatus(shop.server, other.otp_id, 'approved')
      expect((await shop.server.status(otp_id)).body.status).to.equal('pending')
      await receiveMessage(shop, to, textOf(fresh))
      await waitForStatus(shop.server, otp_id, 'approved')
    })
  })
})

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

  /** The logged reasons why messages with the reference of a verification were ignored. */
  const ignoredReasons = (otp_id: string): unknown[] =>
    flow.countersign.log
      .lines()
      .filter(line => line.msg === 'message.ignored' && line.otp_id === otp_id)
      .map(({ outcome }) => outcome)

  it('that fetches a code answers with it, counts that as a message, and logs what a limit leaves unanswered', async () => {
    const shop = await flow.createTenant(
      settings('link_code', { limits: { recipient_messages: [{ max: 1, seconds: 3600 }] } }),
    )
    const { otp_id, to, url } = await sendLink(shop.server)
    await receiveMessage(shop, to, textOf(url))
    const code = await flow.waitForCode(to)
    await receiveMessage(shop, to, textOf(url))
    await flow.eventually(() => expect(ignoredReasons(otp_id)).to.deep.equal(['too_many_messages']))
    expect((await shop.server.status(otp_id)).body.deliveries).to.have.length(1)
    expect((await shop.server.verify(otp_id, code)).body.matched).to.equal(true)
  })

  it('that approves is not offered to a publishable key, which could never prove the approval', async () => {
    const { device, server } = await flow.createTenant(settings('link_inbound'))
    const { otp_id } = await flow.startVerification(device)
    expect((await server.status(otp_id)).body).to.include({ channel: 'sms', completion: 'code', action_url: null })
    expect(refusal(await device.resend(otp_id, 'whatsapp'))).to.include({
      type: 'ResendNotAllowedError',
      cause: 'channel_not_provable_by_device',
    })
  })
})

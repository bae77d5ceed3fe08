import { expect } from 'chai'
import { completionOf } from '../../machines/otp.queries.ts'
import { step } from '../../machines/otp.step.ts'
import { verificationView } from '../../machines/otp.view.ts'
import { issued, linkNo, MINUTE, PRICES, start, T0 } from '../support/otp.ts'

describe('starting a verification', () => {
  it('makes it pending and delivers the code on the first channel', () => {
    const { saved, effects, reply, changed, dueAt } = step(null, start())
    expect(saved.value).to.equal('pending')
    expect(effects).to.deep.equal([{ type: 'deliver', id: 'dlv_1', channel: 'sms', generation: 1 }])
    expect(reply).to.deep.equal({ kind: 'accepted' })
    expect(changed).to.equal(true)
    expect(dueAt).to.equal(T0 + 10 * MINUTE)
  })

  it('records one send, no wrong code and a queued delivery, and none of the members that belong to the command only', () => {
    const { context } = issued()
    expect(context).to.include({ sends: 1, wrong_codes: 0, generation: 1, channel: 'sms', link: null })
    expect(context).to.include({ first_sent_at: T0, last_sent_at: T0, expires_at: T0 + 10 * MINUTE })
    expect(context.deliveries).to.deep.equal([
      {
        delivery_id: 'dlv_1',
        channel: 'sms',
        generation: 1,
        status: 'queued',
        created_at: T0,
        updated_at: T0,
        micros: PRICES.sms,
      },
    ])
    expect(issued().context).not.to.have.any.keys('id', 'type', 'at', 'delivery_id', 'prices')
  })

  it('delivers on WhatsApp in template mode and gives no link', () => {
    const { saved, effects } = step(null, start({ order: ['whatsapp', 'sms'] }))
    expect(effects).to.deep.equal([{ type: 'deliver', id: 'dlv_1', channel: 'whatsapp', generation: 1 }])
    expect(verificationView(saved, T0)).to.include({ sealed_action_url: null, completion: 'code' })
  })

  for (const [whatsapp, completion] of [
    ['link_code', 'code'],
    ['link_inbound', 'inbound'],
  ] as const) {
    it(`sends nothing in ${whatsapp}, gives a link, and has completion ${completion}`, () => {
      const { saved, effects } = step(null, start({ order: ['whatsapp', 'sms'], whatsapp }))
      expect(effects).to.deep.equal([])
      expect(saved.context).to.deep.include({ link: linkNo(1), deliveries: [], sends: 1 })
      expect(completionOf(saved.context)).to.equal(completion)
    })
  }

  it('gives no link on another channel, even in a link mode', () => {
    const { context } = issued({ whatsapp: 'link_inbound' })
    expect(context.link).to.equal(null)
    expect(completionOf(context)).to.equal('code')
  })

  it('replies twice and delivers once when its command is delivered twice', () => {
    const command = start()
    const first = step(null, command)
    const again = step(first.saved, command)
    expect(again).to.deep.include({ reply: first.reply, effects: [], changed: false, saved: first.saved })
  })

  it('throws when the verification was started by another command, or by none', () => {
    expect(() => step(issued(), start())).to.throw('starts once')
    const command = { id: 'cmd_early', type: 'otp.cancel', at: T0 } as const
    expect(() => step(null, command)).to.throw('otp.cancel needs a verification')
  })
})

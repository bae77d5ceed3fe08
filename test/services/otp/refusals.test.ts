import { expect } from 'chai'
import type { Obstacle } from '../../../machines/channels.ts'
import type { NotAllowedCause, Reply } from '../../../machines/otp.ts'
import { refusalFromReply } from '../../../services/otp/refusals.ts'

type Refused = Omit<Extract<Reply, { kind: 'refused' }>, 'kind' | 'error'>

const OBSTACLES: Record<`channel_${Obstacle}`, Refused> = {
  channel_disabled: { channel: 'telegram' },
  channel_no_provider: { channel: 'sms' },
  channel_no_provider_for_country: { channel: 'sms' },
  channel_provider_paused: { channel: 'sms' },
  channel_code_too_long: { channel: 'telegram' },
  channel_stopped_by_recipient: { channel: 'sms' },
  channel_cannot_reach_recipient: { channel: 'email' },
  channel_number_kind: { channel: 'sms' },
  channel_no_business_number: { channel: 'whatsapp' },
  channel_not_provable_by_device: { channel: 'whatsapp' },
}
const RESEND: Record<string, Refused> = {
  not_pending: { otp_status: 'canceled' },
  send_attempts_spent: {},
  no_usable_channel: {},
  ...OBSTACLES,
}
const VERIFY: Record<string, Refused> = { approved_by_message: {}, proved_by_exchange: {} }

describe('a refusal to resend or verify', () => {
  const cases = [
    ...Object.entries(RESEND).map(([cause, reply]) => ['ResendNotAllowedError', cause, reply] as const),
    ...Object.entries(VERIFY).map(([cause, reply]) => ['VerifyNotAllowedError', cause, reply] as const),
  ]
  const refuse = ([error, cause, reply]: (typeof cases)[number]) =>
    refusalFromReply({ kind: 'refused', error, cause: cause as NotAllowedCause, ...reply })

  it('says each cause in a sentence of its own that names the status or the channel', () => {
    for (const one of cases) {
      const [error, cause, { otp_status, channel }] = one
      const { detail, ...members } = refuse(one)
      expect(members).to.deep.equal({ kind: 'refused', error, cause, ...(otp_status && { otp_status }) })
      expect(detail)
        .to.match(/^[A-Z].*\.$/)
        .and.contain(otp_status ?? channel ?? '')
        .and.not.contain('undefined')
    }
    const details = cases.map(one => refuse(one).detail)
    expect(new Set(details)).to.have.property('size', cases.length)
  })
})

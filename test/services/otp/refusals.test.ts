import { expect } from 'chai'
import type { Obstacle } from '../../../machines/channels.ts'
import type { NotAllowedCause, OtpStatus, Reply } from '../../../machines/otp.ts'
import { refusalFromReply } from '../../../services/otp/refusals.ts'

type Refused = Omit<Extract<Reply, { kind: 'refused' }>, 'kind' | 'error'>

const OBSTACLES: Record<`channel_${Obstacle}`, Refused> = {
  channel_disabled: { channel: 'telegram' },
  channel_no_provider: { channel: 'sms' },
  channel_no_provider_for_country: { channel: 'sms' },
  channel_provider_paused: { channel: 'sms' },
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

  for (const one of cases)
    it(`says ${one[1]} in words and as its cause`, () => {
      const [error, cause, { otp_status, channel }] = one
      const { detail, ...members } = refuse(one)
      expect(members).to.deep.equal({ kind: 'refused', error, cause, ...(otp_status && { otp_status }) })
      expect(detail)
        .to.match(/^[A-Z].*\.$/)
        .and.not.contain('undefined')
      if (otp_status !== undefined) expect(detail).to.contain(otp_status)
      if (channel !== undefined) expect(detail).to.contain(channel)
    })

  it('says how the verification ended', () => {
    const sentence = (otp_status: OtpStatus) =>
      refusalFromReply({ kind: 'refused', error: 'OtpNotPendingError', otp_status }).detail
    expect((['approved', 'failed', 'expired', 'canceled'] as const).map(sentence)).to.deep.equal([
      'The verification is approved.',
      'The verification has failed, because its attempts are used up.',
      'The verification has expired.',
      'The verification was canceled.',
    ])
  })

  it('has a sentence of its own for each cause', () => {
    const details = cases.map(one => refuse(one).detail)
    expect(new Set(details)).to.have.property('size', cases.length)
  })
})

// Verifications in every state that a deploy may meet. Each golden file holds these states as its version saved them.
import type { SavedOtp } from '../../machines/otp.versions.ts'
import * as otp from './otp.ts'

const { device, issued, play, resend, right, wrong, message, reported } = otp

const email: otp.StartOptions = {
  mode: 'test',
  recipient: { kind: 'email', sealed: 'sealed address', index: 'index', masked: 'a****@example.com', country: null },
  client_ip: null,
  order: ['sms', 'email'],
  channel: 'email',
}
const linked = (whatsapp: 'link_code' | 'link_inbound'): otp.StartOptions => ({
  id: 'cmd_start',
  order: ['whatsapp', 'sms'],
  whatsapp,
})

export const GOLDEN_STATES: Record<string, () => SavedOtp> = {
  'pending, just sent': () => issued({ id: 'cmd_start' }),
  'pending, guessed, delivered and resent with a fresh code': () =>
    play(
      issued({ id: 'cmd_start' }),
      reported('delivered', { id: 'cmd_receipt' }),
      wrong({ id: 'cmd_guess' }),
      resend('telegram', { id: 'cmd_resend' }),
    ).saved,
  'pending on a link, its code sent in the chat': () =>
    play(issued(linked('link_code')), message('link_1', { id: 'cmd_message' })).saved,
  'pending on a link that approves': () => issued(linked('link_inbound')),
  'approved by a device, guessed at, then its token exchanged': () =>
    play(
      issued({ id: 'cmd_start', started_by: device }),
      right({ id: 'cmd_code', by: device }),
      wrong({ id: 'cmd_guess', by: device }),
      otp.exchange({ id: 'cmd_exchange' }),
    ).saved,
  'approved by a message': () => play(issued(linked('link_inbound')), message('link_1', { id: 'cmd_message' })).saved,
  'failed, with a delivery that failed too': () =>
    play(
      issued({ id: 'cmd_start', rules: { verify_attempts: 1 } }),
      reported('failed', { id: 'cmd_receipt' }),
      wrong({ id: 'cmd_guess' }),
    ).saved,
  'expired, an address without a usable client_ip': () =>
    play(issued({ id: 'cmd_start', ...email }), reported('sent', { id: 'cmd_sent' }), otp.lapse({ id: 'cmd_lapse' }))
      .saved,
  canceled: () => play(issued({ id: 'cmd_start' }), otp.cancel({ id: 'cmd_cancel' })).saved,
}

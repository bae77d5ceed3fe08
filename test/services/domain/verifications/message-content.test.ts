import { expect } from 'chai'
import { Unsealable } from '../../../../infra/crypto/keyring.ts'
import { CONSOLE_APP_ID } from '../../../../services/domain/tenancy/console.ts'
import { resolveSettings } from '../../../../services/domain/tenancy/settings.ts'
import { atRest } from '../../../../services/domain/verifications/encryption-context.ts'
import { renderContent } from '../../../../services/domain/verifications/message-content.ts'
import { testClock } from '../../../support/clock.ts'
import { MINUTE, SECOND } from '../../../support/otp.ts'
import { codeOf, newOtpDocument, RECIPIENT } from '../../../support/queued-otps.ts'
import { testKeyring } from '../../../support/tenancy.ts'

describe('the message of a delivery', () => {
  const tools = { keyring: testKeyring(), clock: testClock() }
  const app = { name: 'Shop', settings: resolveSettings({}) }
  const withLife = (ttl_ms: number) => {
    const doc = newOtpDocument(tools, { rules: { ttl_ms } })
    const delivery = {
      delivery_id: 'dlv_1',
      channel: 'telegram',
      generation: 1,
      created_at: tools.clock.now(),
    } as const
    return { doc, content: renderContent(tools.keyring, { otp: doc.context, delivery, app, locale: 'en' }) }
  }

  it('holds the recipient, and the code in the text', () => {
    const { doc, content } = withLife(10 * MINUTE)
    expect(content).to.include({ recipient: RECIPIENT, code: codeOf(tools, doc) })
    expect(content.text).to.include(content.code).and.include('Shop')
  })

  it('cannot be made of a sign-in to the dashboard that was moved to another app', () => {
    const { context } = newOtpDocument(tools, { app_id: CONSOLE_APP_ID })
    const salt = tools.keyring.seal('salt', atRest.salt(context))
    const otp = { ...context, code: { ...context.code, salt } }
    const delivery = { delivery_id: 'dlv_1', channel: 'email', generation: 1, created_at: 0 } as const
    const render = (app_id: string) =>
      renderContent(tools.keyring, { otp: { ...otp, app_id }, delivery, app, locale: 'en' })
    expect(render(CONSOLE_APP_ID).code).to.match(/^\d{6}$/)
    expect(() => render('app_shop')).to.throw(Unsealable)
  })

  it('promises whole minutes, no more than its code lives, but one at least', () => {
    for (const [ttl_ms, minutes] of [
      [10 * MINUTE, 10],
      [10 * MINUTE - SECOND, 9],
      [30 * SECOND, 1],
    ] as const)
      expect(withLife(ttl_ms).content.text).to.include(` ${minutes} min`)
  })

  it('promises what is left of the code when it answers in the chat, and a message before a resend its own time', () => {
    const { context: otp } = newOtpDocument(tools, { rules: { ttl_ms: 10 * MINUTE } })
    const textOf = (created_at: number, expires_at: number) => {
      const delivery = { delivery_id: 'dlv_1', channel: 'whatsapp', generation: 1, created_at } as const
      return renderContent(tools.keyring, { otp: { ...otp, expires_at }, delivery, app, locale: 'en' }).text
    }
    expect(textOf(otp.first_sent_at + 7 * MINUTE, otp.expires_at)).to.include(' 3 min')
    expect(textOf(otp.first_sent_at, otp.expires_at + 4 * MINUTE)).to.include(' 10 min')
  })
})

// <countersign-verify>: a person proves that they control a number or an address, in any web page. In: a publishable key. Out: the event
// `verified` with a token, which is also the element's value in a form. The page's backend exchanges the token: that alone is proof.
import {
  ConnectionError,
  Countersign,
  CountersignError,
  type Verification,
  type VerificationDetails,
} from '../typescript/src/index.ts'
import { createParts, type Parts } from './parts.ts'
import { type Texts, textsFor } from './texts.ts'
import { receiveCode } from './web-otp.ts'

export interface VerifiedDetail {
  verification_token: string
  otp_id: string
}

const CHANNEL_NAMES: Record<Verification['channel'], string> = {
  sms: 'SMS',
  whatsapp: 'WhatsApp',
  telegram: 'Telegram',
  email: 'Email',
}

/** The default of `base-url`: the service has sent this file. */
const HOME = import.meta.url.replace(/\/[^/]*$/, '')

/** Errors after which only a new verification helps. */
const ENDS = [
  'OtpExpiredError',
  'OtpNotPendingError',
  'OtpNotFoundError',
  'ResendNotAllowedError',
  'VerifyNotAllowedError',
]

const RIGHT_TO_LEFT = /^(Arab|Hebr)$/

export class CountersignVerify extends HTMLElement {
  static readonly formAssociated = true
  static readonly observedAttributes = ['locale', 'recipient', 'required']

  readonly #internals = this.attachInternals()
  readonly #parts: Parts = createParts(this.attachShadow({ mode: 'open', delegatesFocus: true }))
  #texts: Texts = textsFor([]).texts
  #verification: Verification | null = null
  /** The attribute with which the element began. */
  #recipient: string | null = null
  #token = ''
  /** Not in the page: not yet, or no more. */
  #isOut = true
  /** The time of the server, less that of the device. */
  #clockOffset = 0
  #resendAt: number | null = null
  #countdown: ReturnType<typeof setInterval> | undefined
  /** Ends what is under way when the element leaves the page, starts again or has its token. */
  #leaving = new AbortController()

  constructor() {
    super()
    const { recipientForm, codeForm, again, change, code } = this.#parts
    recipientForm.onsubmit = event => this.#run(event, () => this.#send())
    codeForm.onsubmit = event => this.#run(event, () => this.#verify())
    again.onclick = event => this.#run(event, () => this.#resend())
    change.onclick = () => this.reset()
    code.oninput = () => code.removeAttribute('aria-invalid')
  }

  connectedCallback(): void {
    this.#chooseLanguage()
    // What was under way ended when it left the page, and its attributes may have changed since.
    const hasToBegin = this.#isOut && !this.#verification
    this.#isOut = false
    if (hasToBegin || this.#recipient !== this.getAttribute('recipient')) this.reset()
    else {
      this.#setValue(this.#token)
      this.#startTicking()
    }
  }

  disconnectedCallback(): void {
    // An element that is moved within the page goes on with what it does.
    this.#isOut = !this.isConnected
    if (this.#isOut) this.#stop()
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    // A framework may set an attribute again to the value that it has.
    if (!this.isConnected || before === after) return
    if (name === 'locale') this.#chooseLanguage()
    if (name === 'recipient') this.reset()
    this.#setValue(this.#token)
  }

  formResetCallback(): void {
    this.reset()
  }

  formDisabledCallback(isDisabled: boolean): void {
    this.#parts.setDisabled(isDisabled)
    this.#tick()
  }

  /** The verification token; empty until the person is verified. */
  get value(): string {
    return this.#token
  }

  // Frameworks assign to a property, where there is one, what a page gives as an attribute; undefined when the page no longer gives it.

  get name(): string {
    return this.getAttribute('name') ?? ''
  }

  set name(name: string | null | undefined) {
    this.#reflect('name', name)
  }

  get form(): HTMLFormElement | null {
    return this.#internals.form
  }

  /** Takes the id of a form, as the attribute does. */
  set form(id: string | null | undefined) {
    this.#reflect('form', id)
  }

  get required(): boolean {
    return this.hasAttribute('required')
  }

  set required(isRequired: boolean | undefined) {
    this.toggleAttribute('required', Boolean(isRequired))
  }

  get disabled(): boolean {
    return this.hasAttribute('disabled')
  }

  set disabled(isDisabled: boolean | undefined) {
    this.toggleAttribute('disabled', Boolean(isDisabled))
  }

  get validity(): ValidityState {
    return this.#internals.validity
  }

  checkValidity(): boolean {
    return this.#internals.checkValidity()
  }

  reportValidity(): boolean {
    return this.#internals.reportValidity()
  }

  /** Begins again. */
  reset(): void {
    this.#stop()
    this.#verification = null
    this.#parts.code.value = ''
    this.#recipient = this.getAttribute('recipient')
    this.#parts.recipient.value = this.#recipient ?? ''
    this.#show('recipient')
  }

  #reflect(attribute: string, value: string | null | undefined): void {
    if (value === null || value === undefined) this.removeAttribute(attribute)
    else this.setAttribute(attribute, value)
  }

  #stop(): void {
    this.#leaving.abort()
    this.#leaving = new AbortController()
    clearInterval(this.#countdown)
  }

  get #client(): Countersign {
    const key = this.getAttribute('publishable-key') ?? ''
    // A path is one of the page's own server, which may pass calls on.
    const baseUrl = new URL(this.getAttribute('base-url') ?? HOME, document.baseURI).href
    return new Countersign({ key, baseUrl })
  }

  async #send(): Promise<void> {
    const { signal } = this.#leaving
    const recipient = normalized(this.#parts.recipient.value)
    const locale = this.getAttribute('locale') ?? this.#parts.locale
    const verification = await this.#client.send({ recipient, locale }, { signal })
    await this.#follow(verification, true)
  }

  async #resend(): Promise<void> {
    if (!this.#verification) return
    const { signal } = this.#leaving
    const { otp_id } = this.#verification
    try {
      await this.#follow(await this.#client.resend({ otp_id }, { signal }), false)
    } catch (error) {
      if (signal.aborted || !isRefusedForGood(error)) throw error
      // The code that was sent is still good.
      this.#resendAt = null
      this.#parts.warn(this.#texts.noResend)
    }
  }

  /** Shows where the code went, and waits for it. */
  async #follow(verification: Verification, isNew: boolean): Promise<void> {
    const { signal } = this.#leaving
    const { masked_recipient, channel, action_url, otp_id } = verification
    const details = await this.#client.status({ otp_id }, { signal }).catch(() => null)
    signal.throwIfAborted()
    this.#verification = verification
    this.#parts.setLink(action_url)
    this.#show('code')
    if (details) this.#startCountdown(details, isNew)
    // The button is there at once: a resend that comes too early is answered with the time to wait.
    else this.#resendAt = 0
    this.#parts.say(`${this.#texts.sent} \u2068${masked_recipient}\u2069 (${CHANNEL_NAMES[channel]})`)
    if (isNew)
      receiveCode(signal, code => {
        this.#parts.code.value = code
        this.#parts.codeForm.requestSubmit()
      })
  }

  async #verify(): Promise<void> {
    const { signal } = this.#leaving
    const { otp_id } = this.#verification ?? { otp_id: '' }
    const { code } = this.#parts
    const result = await this.#client.verify({ otp_id, code: code.value }, { signal })
    if (result.verification_token !== null) {
      this.#stop()
      this.#setValue(result.verification_token)
      this.#show('verified')
      const detail: VerifiedDetail = { verification_token: result.verification_token, otp_id }
      this.dispatchEvent(new CustomEvent('verified', { detail, bubbles: true, composed: true }))
    } else if (result.status === 'pending') {
      code.setAttribute('aria-invalid', 'true')
      code.select()
      this.#parts.warn(`${this.#texts.wrong} ${result.attempts_left}`)
    } else this.#end()
  }

  #end(): void {
    this.reset()
    this.#parts.warn(this.#texts.ended)
  }

  /** Runs what a button does, and says what went wrong. */
  async #run(event: Event, work: () => Promise<void>): Promise<void> {
    event.preventDefault()
    const { signal } = this.#leaving
    if (!this.#parts.begin()) return
    try {
      await work()
    } catch (error) {
      if (!signal.aborted) this.#explain(error)
    } finally {
      this.#parts.finish()
      this.#tick()
    }
  }

  #explain(error: unknown): void {
    const texts = this.#texts
    if (!(error instanceof CountersignError)) {
      this.#parts.warn(`${texts.failed} (${error})`)
      return
    }
    const { type, retry_after, status } = error
    if (type === 'ResendCooldownError') {
      this.#resendAt = Date.now() + this.#clockOffset + (retry_after ?? 0) * 1000
      this.#startTicking()
    } else if (ENDS.includes(type)) this.#end()
    else if (type === 'InvalidRecipientError' || type === 'ValidationError') {
      const field = this.#verification ? this.#parts.code : this.#parts.recipient
      field.setAttribute('aria-invalid', 'true')
      field.focus()
      this.#parts.warn(this.#verification ? texts.failed : texts.invalid)
    } else if (status === 429) this.#parts.warn(`${texts.later} (${clock(retry_after ?? 0)})`)
    else this.#parts.warn(error instanceof ConnectionError ? texts.failed : `${texts.failed} (${type})`)
  }

  #startCountdown({ created_at, resend_at }: VerificationDetails, isNew: boolean): void {
    if (isNew) this.#clockOffset = Date.parse(created_at) - Date.now()
    this.#resendAt = resend_at === null ? null : Date.parse(resend_at)
    this.#startTicking()
  }

  #startTicking(): void {
    clearInterval(this.#countdown)
    this.#countdown = setInterval(() => this.#tick(), 1000)
    this.#tick()
  }

  #tick(): void {
    const { again, code } = this.#parts
    const hadFocus = again.matches(':focus')
    const left = this.#resendAt === null ? 0 : Math.ceil((this.#resendAt - Date.now() - this.#clockOffset) / 1000)
    again.hidden = this.#resendAt === null
    again.disabled = left > 0 || this.matches(':disabled')
    again.textContent = left > 0 ? `${this.#texts.again} (${clock(left)})` : this.#texts.again
    // The browser takes the focus from a button that is hidden or disabled, and the keyboard would be nowhere.
    if (hadFocus && (again.hidden || again.disabled)) code.focus()
    if (left <= 0) clearInterval(this.#countdown)
  }

  #show(step: 'recipient' | 'code' | 'verified'): void {
    if (step !== 'verified') this.#setValue('')
    this.#parts.show(step)
    if (step === 'verified') this.#parts.say(this.#texts.verified)
  }

  #setValue(token: string): void {
    this.#token = token
    this.#internals.setFormValue(token || null)
    const isMissing = this.hasAttribute('required') && token === ''
    const { recipient, code } = this.#parts
    const field = this.#verification ? code : recipient
    this.#internals.setValidity(isMissing ? { valueMissing: true } : {}, isMissing ? this.#texts.verify : '', field)
  }

  #chooseLanguage(): void {
    const inherited = this.closest<HTMLElement>('[lang]')?.lang ?? ''
    const asked = this.getAttribute('locale') ?? ''
    const { locale, texts } = textsFor([asked, inherited, ...navigator.languages])
    this.#texts = texts
    const { script = '' } = new Intl.Locale(locale).maximize()
    this.#parts.setLanguage(locale, RIGHT_TO_LEFT.test(script) ? 'rtl' : 'ltr', texts)
    this.#tick()
  }
}

/** Another try of the resend would be refused too, and the verification goes on. */
function isRefusedForGood(error: unknown): boolean {
  if (!(error instanceof CountersignError)) return false
  const { type, status, retry_after, problem } = error
  if (type === 'ResendNotAllowedError') return problem.cause !== 'not_pending'
  return status >= 400 && status < 500 && retry_after === null && !ENDS.includes(type)
}

/** As the API takes it: people write numbers with spaces, and some with 00 for the plus. */
function normalized(text: string): string {
  const trimmed = text.trim()
  if (trimmed.includes('@')) return trimmed
  return trimmed.replaceAll(/[\s().\u2010-\u2015-]/g, '').replace(/^00/, '+')
}

const clock = (seconds: number): string => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`

if (!customElements.get('countersign-verify')) customElements.define('countersign-verify', CountersignVerify)

// What the element shows: its fields, buttons and messages. They are made once, without HTML text, and their style is a
// sheet of its own, so that a strict Content-Security-Policy and Trusted Types allow both.
import type { Texts } from './texts.ts'

const STYLE = `
:host { display: block; max-inline-size: 24rem; font: inherit; color: inherit; }
:host([hidden]), [hidden] { display: none !important; }
div, form { display: grid; gap: var(--countersign-gap, .75rem); }
label { display: grid; gap: .375rem; font-weight: 600; }
input, button { font: inherit; box-sizing: border-box; min-block-size: 2.75rem; border-radius: var(--countersign-radius, .5rem); }
input { inline-size: 100%; padding: .5rem .75rem; color: FieldText; background: Field; font-weight: 400;
  border: 1px solid var(--countersign-border, #757575); }
input[name=code] { letter-spacing: .25em; font-variant-numeric: tabular-nums; direction: ltr; }
input[aria-invalid] { border-color: var(--countersign-error, #c5221f); }
button { padding: .5rem 1rem; cursor: pointer; font-weight: 600; border: 1px solid transparent;
  color: var(--countersign-on-accent, #fff); background: var(--countersign-accent, #1a5fd0); }
button.quiet { color: inherit; background: none; font-weight: 400; border-color: var(--countersign-border, #757575); }
button:is(:disabled, [aria-disabled=true]) { cursor: default; opacity: .65; }
:is(input, button, a):focus-visible { outline: 3px solid var(--countersign-accent, #1a5fd0); outline-offset: 2px; }
.row { display: flex; flex-wrap: wrap; gap: .5rem; }
.row > button { flex: 1 1 auto; }
a { color: inherit; font-weight: 600; min-block-size: 1.5rem; }
p { margin: 0; }
p:empty { position: absolute; clip-path: inset(50%); }
p[role=alert] { font-weight: 600; color: var(--countersign-error, #c5221f); color: var(--countersign-error, light-dark(#b3261e, #ff9d94)); }
`

type Step = 'recipient' | 'code' | 'verified'

export interface Parts {
  recipientForm: HTMLFormElement
  recipient: HTMLInputElement
  codeForm: HTMLFormElement
  code: HTMLInputElement
  again: HTMLButtonElement
  change: HTMLButtonElement
  /** The language of the texts. */
  readonly locale: string
  show(step: Step): void
  setLanguage(locale: string, direction: string, texts: Texts): void
  setLink(url: string | null): void
  setDisabled(isDisabled: boolean): void
  say(text: string): void
  warn(text: string): void
  /** False while something is under way, and of a disabled element. */
  begin(): boolean
  finish(): void
}

function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  members: Partial<HTMLElementTagNameMap[Name]>,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), members)
  element.append(...children)
  return element
}

export function createParts(root: ShadowRoot): Parts {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(STYLE)
  root.adoptedStyleSheets = [sheet]

  const labels = { recipient: make('span', {}), code: make('span', {}) }
  const recipient = make('input', { name: 'recipient', autocomplete: 'on', inputMode: 'email', required: true })
  recipient.part.add('input')
  recipient.autocapitalize = 'none'
  recipient.spellcheck = false
  const send = make('button', { type: 'submit' })
  const recipientForm = make('form', { noValidate: true }, make('label', {}, labels.recipient, recipient), send)

  const code = make('input', { name: 'code', autocomplete: 'one-time-code', inputMode: 'numeric', required: true })
  code.part.add('input')
  const link = make('a', { target: '_blank', rel: 'noopener', hidden: true })
  const verify = make('button', { type: 'submit' })
  const again = make('button', { type: 'button', className: 'quiet' })
  const change = make('button', { type: 'button', className: 'quiet' })
  const row = make('div', { className: 'row' }, again, change)
  const codeForm = make('form', { noValidate: true }, link, make('label', {}, labels.code, code), verify, row)

  // Both are rendered while they are empty: screen readers announce a text that changes, and may miss a paragraph that appears.
  const news = make('p', { id: 'news' })
  news.setAttribute('role', 'status')
  const warning = make('p', { id: 'warning' })
  warning.setAttribute('role', 'alert')
  recipient.setAttribute('aria-describedby', warning.id)
  // The focus moves to this field, which may cut off the announcement of where the code went.
  code.setAttribute('aria-describedby', `${warning.id} ${news.id}`)
  for (const button of [send, verify, again, change]) button.part.add('button')
  for (const label of Object.values(labels)) label.part.add('label')
  link.part.add('link')
  for (const message of [news, warning]) message.part.add('message')
  const all = make('div', {}, news, recipientForm, codeForm, warning)
  root.append(all)

  let isBusy = false
  let isDisabled = false
  const setAvailable = (): void => {
    for (const control of [send, verify, change, recipient, code]) control.disabled = isDisabled
    // Not disabled, because the focus would be lost.
    for (const button of [send, verify]) button.ariaDisabled = String(isBusy)
    all.ariaBusy = String(isBusy)
  }
  const say = (text: string): void => {
    news.textContent = text
    warning.textContent = ''
  }
  return {
    recipientForm,
    recipient,
    codeForm,
    code,
    again,
    change,
    get locale() {
      return all.lang
    },
    say,
    warn: text => {
      warning.textContent = text
    },
    show(step) {
      const hadFocus = root.activeElement !== null
      recipientForm.hidden = step !== 'recipient'
      codeForm.hidden = step !== 'code'
      if (step === 'recipient') say('')
      // Not before: the focus of the element would go to the message in place of a field.
      if (step === 'verified') news.tabIndex = -1
      else news.removeAttribute('tabindex')
      // A person who works with the keyboard goes on in the next field.
      const next = { recipient, code, verified: news }[step]
      if (hadFocus) next.focus()
    },
    setLanguage(locale, direction, texts) {
      all.lang = locale
      all.dir = direction
      labels.recipient.textContent = texts.recipient
      labels.code.textContent = texts.code
      send.textContent = texts.send
      verify.textContent = texts.verify
      again.textContent = texts.again
      change.textContent = texts.change
      link.textContent = texts.open
    },
    setLink(url) {
      link.hidden = url === null
      if (url !== null) link.href = url
    },
    setDisabled(disabled) {
      isDisabled = disabled
      setAvailable()
    },
    begin() {
      if (isBusy || isDisabled) return false
      isBusy = true
      warning.textContent = ''
      for (const field of [recipient, code]) field.removeAttribute('aria-invalid')
      setAvailable()
      return true
    },
    finish() {
      isBusy = false
      setAvailable()
    },
  }
}

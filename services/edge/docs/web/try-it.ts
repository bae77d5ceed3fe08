// The forms that try a call of the client API. In: a test key and fields. Out: a real request from the page, and its answer. The key is
// kept until the tab is closed. What an answer gives, the other forms take: an `otp_id`, a `message_id`, a `verification_token`.
import { untilTabCloses } from './stored.ts'
import { buildRequest, type FilledField, keyProblem, pathProblem, testKeyKind } from './try-request.ts'

/** The headers of an answer that say something to a reader. */
const SHOWN_HEADERS = ['content-type', 'x-request-id', 'retry-after', 'www-authenticate']

/** Members of an answer that are fields of other calls. */
const PASSED_ON = ['otp_id', 'message_id', 'verification_token']

const storedName = (kind: string): string => `docs-${kind}-key`

interface TryForm {
  form: HTMLFormElement
  key: HTMLInputElement
  kinds: string[]
  method: string
  path: string
  result: HTMLElement
}

export function addTryForms(): void {
  const forms = [...document.querySelectorAll<HTMLDetailsElement>('.try')].flatMap(readForm)
  for (const one of forms) {
    one.key.value = rememberedKey(one.kinds)
    one.key.addEventListener('change', () => rememberKey(one, forms))
    one.form.addEventListener('submit', event => {
      event.preventDefault()
      void send(one, forms)
    })
  }
}

function readForm(details: HTMLDetailsElement): TryForm[] {
  const form = details.querySelector('form')
  const key = form?.querySelector<HTMLInputElement>('input[name="key"]')
  const result = details.querySelector<HTMLElement>('.result')
  if (!form || !key || !result) return []
  details.hidden = false
  const { method = 'GET', path = '', keys = '' } = details.dataset
  return [{ form, key, result, method, path, kinds: keys.split(' ') }]
}

/** Where both kinds may call, the server key. */
const rememberedKey = (kinds: readonly string[]): string =>
  kinds.map(kind => untilTabCloses.read(storedName(kind))).find(key => key !== null) ?? ''

/** A key that is pasted into one form is in the others as well, where its kind may call. A live key is not remembered. */
function rememberKey({ key }: TryForm, forms: readonly TryForm[]): void {
  const value = key.value.trim()
  const kind = testKeyKind(value)
  if (kind === undefined) return
  untilTabCloses.write(storedName(kind), value)
  for (const other of forms) if (other.kinds.includes(kind)) other.key.value = value
}

const filledFields = (form: HTMLFormElement): FilledField[] =>
  [...form.querySelectorAll<HTMLInputElement | HTMLSelectElement>('[data-in]')].map(field => ({
    name: field.name,
    in: field.dataset.in as FilledField['in'],
    value: field.value.trim(),
  }))

async function send(one: TryForm, forms: readonly TryForm[]): Promise<void> {
  const { form, key, kinds, method, path, result } = one
  const value = key.value.trim()
  const problem = keyProblem(value, kinds)
  key.setAttribute('aria-invalid', String(problem !== null))
  if (problem !== null) {
    showProblem(result, problem)
    key.focus()
    return
  }
  rememberKey(one, forms)
  const fields = filledFields(form)
  const missing = pathProblem(fields)
  if (missing !== null) {
    showProblem(result, missing)
    form.querySelector<HTMLElement>('[data-in="path"]')?.focus()
    return
  }
  const button = form.querySelector('button')
  button?.setAttribute('aria-busy', 'true')
  const { url, body, headers } = buildRequest(method, path, value, fields)
  const began = performance.now()
  try {
    const response = await fetch(url, { method, headers, body, credentials: 'same-origin', cache: 'no-store' })
    const text = await response.text()
    showAnswer(result, response, text, Math.round(performance.now() - began))
    if (response.ok) passOn(text, forms)
  } catch {
    showProblem(result, 'The request did not reach the server. Is it running, and are you online?')
  } finally {
    button?.removeAttribute('aria-busy')
  }
}

/** The part that assistive technology reads out when it changes. It must be in the page before. */
function statusLine(result: HTMLElement): HTMLElement {
  const found = result.querySelector<HTMLElement>('[role="status"]')
  if (found !== null) return found
  const line = document.createElement('p')
  line.setAttribute('role', 'status')
  result.append(line)
  return line
}

function showProblem(result: HTMLElement, text: string): void {
  const line = statusLine(result)
  line.className = 'error'
  line.textContent = text
  result.replaceChildren(line)
}

function showAnswer(result: HTMLElement, response: Response, text: string, ms: number): void {
  const line = statusLine(result)
  const status = document.createElement('b')
  status.className = response.ok ? 'badge good' : 'badge bad'
  status.textContent = `${response.status} ${response.statusText}`.trim()
  line.className = 'result-status'
  line.replaceChildren(status, ` in ${ms} ms`)
  const headers = document.createElement('dl')
  for (const name of SHOWN_HEADERS) {
    const value = response.headers.get(name)
    if (value === null) continue
    const term = document.createElement('dt')
    term.textContent = name
    const description = document.createElement('dd')
    description.textContent = value
    headers.append(term, description)
  }
  const body = document.createElement('pre')
  body.tabIndex = 0
  body.textContent = pretty(text)
  result.replaceChildren(line, headers, body)
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function passOn(text: string, forms: readonly TryForm[]): void {
  const answer: unknown = JSON.parse(text)
  if (typeof answer !== 'object' || answer === null) return
  for (const [name, value] of Object.entries(answer)) {
    if (!PASSED_ON.includes(name) || typeof value !== 'string') continue
    for (const { form } of forms) {
      const field = form.querySelector<HTMLInputElement>(`[data-in][name="${name}"]`)
      if (field !== null) field.value = value
    }
  }
}

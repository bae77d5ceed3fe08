// Blocks of code: a sample in all languages, of which the reader sees one, and an example of JSON. The script of the page adds the tabs
// and the copy buttons; the language can be chosen without it.
import { escapeText } from '../../../infra/html.ts'
import { highlight } from './highlight.ts'
import { EMPTY_HTML, type Html, html } from './html.ts'
import { writeSamples } from './samples/all-languages.ts'
import { LANGUAGES, type Language, type SampleRequest } from './samples/request.ts'

/** The address of the server in the samples. */
export interface Base {
  url: string
  /** False: no PUBLIC_URL says it, so the script of the page puts in the address under which the page was opened. */
  known: boolean
}

/** One choice for all samples. The style follows it, so it works without the script too. */
export const languageChoice = (): Html => html`<fieldset class="languages"><legend>Language of the samples</legend>
${LANGUAGES.map(
  ({ id, name }, at) =>
    html`<label><input type="radio" name="language" value="${id}"${at === 0 ? html` checked` : EMPTY_HTML}> ${name}</label>`,
)}</fieldset>`

/** `title` is the name of the block for assistive technology. */
const block = (className: 'code' | 'code sample', title: string, content: Html): Html =>
  html`<div class="${className}" role="group" aria-label="${title}"><div class="code-head"><span class="code-title">${title}</span></div>
${content}</div>`

const codeBlock = (title: string, code: Html): Html =>
  block('code', title, html`<pre tabindex="0"><code>${code}</code></pre>`)

/** `title` says what the sample does. */
export const sampleBlock = (title: string, samples: Record<Language, string>, base: Base): Html =>
  block(
    'code sample',
    title,
    html`${LANGUAGES.map(
      ({ id }) =>
        html`<pre tabindex="0" data-language="${id}"><code>${markBase(highlight(samples[id], id), base)}</code></pre>`,
    )}`,
  )

export const requestSample = (title: string, request: SampleRequest, base: Base): Html =>
  sampleBlock(title, writeSamples(request, base.url), base)

/** Where no PUBLIC_URL is known, the script finds the address by this mark. */
const markBase = ({ html: text }: Html, { url, known }: Base): Html =>
  known ? { html: text } : { html: text.replaceAll(escapeText(url), `<b data-base>${escapeText(url)}</b>`) }

export const jsonBlock = (title: string, value: unknown): Html =>
  codeBlock(title, highlight(JSON.stringify(value, null, 2), 'json'))

/** A program in one language. */
export const programBlock = (title: string, text: string): Html => codeBlock(title, highlight(text, 'typescript'))

/** A text that is no program, such as an HTTP request. */
export const textBlock = (title: string, text: string): Html => codeBlock(title, html`${text}`)

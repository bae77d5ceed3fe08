// A mail as HTML. In: what it says. Out: one small document that needs nothing from anywhere. It sets no colours, so that every
// reader's own light or dark scheme fits; the code is large, reads from left to right in any script and is selected by one tap.
// Everything from outside is escaped, and isolated, lest the direction of a name turns the sentence around it.
import { fill } from './fill.ts'
import type { Sentences } from './languages.ts'

export interface MailInput {
  /** One of our languages. */
  locale: string
  sentences: Sentences
  /** Plain. */
  subject: string
  app: string
  code: string
  minutes: string
}

const RIGHT_TO_LEFT: ReadonlySet<string> = new Set(['ar', 'fa', 'he', 'ur'])

export const directionOf = (locale: string): 'rtl' | 'ltr' =>
  RIGHT_TO_LEFT.has(locale.split('-')[0] ?? '') ? 'rtl' : 'ltr'

const CODE_STYLE =
  'font-size:28px;font-weight:700;letter-spacing:2px;white-space:nowrap;-webkit-user-select:all;user-select:all'

export function renderMailHtml({ locale, sentences, subject, app, code, minutes }: MailInput): string {
  const languageAttributes = `lang="${escapeHtml(locale)}" dir="${directionOf(locale)}"`
  const codeSentence = fill(escapeHtml(sentences.short), {
    app: `<bdi>${escapeHtml(app)}</bdi>`,
    code: `<bdi dir="ltr" style="${CODE_STYLE}">${escapeHtml(code)}</bdi>`,
  })
  const valid = fill(escapeHtml(sentences.valid), { minutes: `<bdi>${escapeHtml(minutes)}</bdi>` })
  return `<!doctype html>
<html ${languageAttributes}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
<title>${escapeHtml(subject)}</title>
<style>:root { color-scheme: light dark }</style>
</head>
<body style="margin:0;padding:0">
<div role="article" ${languageAttributes} style="max-width:480px;margin:0 auto;padding:32px 16px;font-family:system-ui,sans-serif;font-size:16px;line-height:1.6">
<p style="margin:0 0 16px">${codeSentence}</p>
<p style="margin:0 0 16px">${valid}</p>
<p style="margin:0;font-size:14px">${escapeHtml(sentences.unasked)}</p>
</div>
</body>
</html>
`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, char => ENTITIES[char] as string)

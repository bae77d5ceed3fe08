// Renders the HTML of a mail. In: its sentences, app name and code. Out: a small document that loads nothing. It sets no colours, so that the
// mail program's light or dark scheme applies. The code is large, reads from left to right in any script and is selected with one tap.
// App name and code are escaped, and isolated with <bdi> so that their direction does not change that of the sentence.
import { fill } from './fill.ts'
import type { Sentences } from './languages.ts'

export interface MailInput {
  /** One of `LANGUAGES`. */
  locale: string
  sentences: Sentences
  subject: string
  app: string
  code: string
  minutes: string
}

/** ISO 15924: Adlam, Arabic, Hebrew, Hanifi Rohingya, N’Ko, Syriac, Thaana. */
const RIGHT_TO_LEFT_SCRIPTS: ReadonlySet<string> = new Set(['Adlm', 'Arab', 'Hebr', 'Rohg', 'Nkoo', 'Syrc', 'Thaa'])

export const directionOf = (locale: string): 'rtl' | 'ltr' =>
  RIGHT_TO_LEFT_SCRIPTS.has(new Intl.Locale(locale).maximize().script ?? '') ? 'rtl' : 'ltr'

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
<p style="margin:0;font-size:14px">${escapeHtml(sentences.notRequested)}</p>
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

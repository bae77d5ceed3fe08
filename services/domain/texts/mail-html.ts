// Renders the HTML of a mail. In: its sentences, app name and code. Out: a small document that loads nothing. It sets
// no colours, so that the mail program's light or dark scheme applies. The code is large, reads from left to right in
// any script and is selected with one tap. App name and code are escaped, and isolated with <bdi> so that their
// direction does not change that of the sentence.
import { escapeHtml } from '../../../infra/html.ts'
import { fill } from './fill.ts'
import type { Sentences } from './languages.ts'

interface MailValues {
  /** A BCP 47 tag. */
  locale: string
  subject: string
  app: string
  code: string
  /** Absent where it is not known how long the code is valid. */
  minutes?: string
}

/** ISO 15924: Adlam, Arabic, Hebrew, Hanifi Rohingya, N’Ko, Syriac, Thaana. */
const RIGHT_TO_LEFT_SCRIPTS: ReadonlySet<string> = new Set(['Adlm', 'Arab', 'Hebr', 'Rohg', 'Nkoo', 'Syrc', 'Thaa'])

export const directionOf = (locale: string): 'rtl' | 'ltr' =>
  RIGHT_TO_LEFT_SCRIPTS.has(new Intl.Locale(locale).maximize().script ?? '') ? 'rtl' : 'ltr'

const CODE_STYLE =
  'font-size:28px;font-weight:700;letter-spacing:2px;white-space:nowrap;-webkit-user-select:all;user-select:all'

export function renderMailHtml({
  sentences,
  saysLife,
  ...mail
}: MailValues & { sentences: Sentences; saysLife: boolean }): string {
  const values = shownValues(mail)
  const { short, valid, notRequested } = sentences
  const said = [short, ...(saysLife ? [valid] : [])]
  const shown = said.map(sentence => `<p style="margin:0 0 16px">${fill(escapeHtml(sentence), values)}</p>\n`).join('')
  return mailDocument(mail, `${shown}<p style="margin:0;font-size:14px">${escapeHtml(notRequested)}</p>`)
}

/** Renders an app's own text. `html` is the app's, only the values in it are escaped: own-texts.ts lets them stand in text alone. */
export function renderOwnMailHtml({ text, html, ...mail }: MailValues & { text: string; html: string | null }): string {
  const { app, code, minutes } = mail
  const escaped = { app: escapeHtml(app), code: escapeHtml(code), ...(minutes !== undefined && { minutes }) }
  if (html !== null) return /<html\b/i.test(html) ? fill(html, escaped) : mailDocument(mail, fill(html, escaped))
  const paragraphs = escapeHtml(text).split(/\n{2,}/)
  const shown = paragraphs.map(lines => `<p style="margin:0 0 16px">${lines.replaceAll('\n', '<br>')}</p>`).join('\n')
  return mailDocument(mail, fill(shown, shownValues(mail)))
}

const shownValues = ({ app, code, minutes }: MailValues) => ({
  app: `<bdi>${escapeHtml(app)}</bdi>`,
  code: `<bdi dir="ltr" style="${CODE_STYLE}">${escapeHtml(code)}</bdi>`,
  ...(minutes !== undefined && { minutes: `<bdi>${minutes}</bdi>` }),
})

function mailDocument({ locale, subject }: MailValues, content: string): string {
  const languageAttributes = `lang="${escapeHtml(locale)}" dir="${directionOf(locale)}"`
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
${content}
</div>
</body>
</html>
`
}

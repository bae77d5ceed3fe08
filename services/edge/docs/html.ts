// HTML as tagged templates. Every value in a template is escaped, unless it is an `Html`.
import { escapeHtml, escapeText } from '../../../infra/html.ts'

export interface Html {
  readonly html: string
}

type Part = string | number | Html | readonly Html[]

export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html => ({
  html: String.raw({ raw: strings }, ...parts.map(render)),
})

const render = (part: Part): string => {
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part))
  return 'html' in part ? part.html : part.map(one => one.html).join('\n')
}

export const EMPTY_HTML: Html = { html: '' }

/** Alternatives, each once. */
export const joinHtml = (parts: readonly Html[]): Html => ({
  html: [...new Set(parts.map(one => one.html))].join(' or '),
})

/** A description: text with `code` in backticks, `**weight**`, and links as `[text](#anchor)`. */
export const prose = (text: string): Html => ({
  html: text
    .split(/(`[^`]*`|\*\*[^*]+\*\*|\[[^\]]*\]\([^)\s]*\))/)
    .map(part => {
      if (part.startsWith('`')) return `<code>${escapeText(part.slice(1, -1))}</code>`
      if (/^\*\*[^*]+\*\*$/.test(part)) return `<b>${prose(part.slice(2, -2)).html}</b>`
      const link = /^\[([^\]]*)\]\(([^)\s]*)\)$/.exec(part)
      return link ? `<a href="${escapeHtml(link[2] ?? '')}">${prose(link[1] ?? '').html}</a>` : escapeHtml(part)
    })
    .join(''),
})

/** Several paragraphs of prose. */
export const paragraphs = (...texts: readonly string[]): Html => html`${texts.map(text => html`<p>${prose(text)}</p>`)}`

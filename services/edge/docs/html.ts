// HTML as tagged templates. Every value in a template is escaped, unless it is an `Html`.
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

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, char => ENTITIES[char] ?? char)

export const EMPTY_HTML: Html = { html: '' }

/** Alternatives, each once. */
export const joinHtml = (parts: readonly Html[]): Html => ({
  html: [...new Set(parts.map(one => one.html))].join(' or '),
})

/** A description: text with `code` in backticks. */
export const prose = (text: string): Html => ({
  html: text
    .split(/(`[^`]*`)/)
    .map(part => (part.startsWith('`') ? `<code>${escapeHtml(part.slice(1, -1))}</code>` : escapeHtml(part)))
    .join(''),
})

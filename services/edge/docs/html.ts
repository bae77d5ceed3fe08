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
const CHARACTERS = new Map(Object.entries(ENTITIES).map(([char, entity]) => [entity, char]))

/** The text of what was escaped. */
export const unescapeHtml = (escaped: string): string =>
  escaped.replace(/&[#\w]+;/g, entity => CHARACTERS.get(entity) ?? entity)

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, char => ENTITIES[char] ?? char)

/** Between tags, where a quote needs no entity: a third of the characters of a sample are quotes. */
export const escapeText = (text: string): string => text.replace(/[&<>]/g, char => ENTITIES[char] ?? char)

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

// The samples of the reference page, as a reader copies them. In: the HTML of the page. Out: the text of each sample by its section and
// its language.
import { LANGUAGES, type Language } from '../../services/edge/docs/samples/request.ts'

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** As `textContent` is in a browser. */
const textOf = (html: string): string =>
  html.replaceAll(/<[^>]+>/g, '').replaceAll(/&([\w#]+);/g, (_, name: string) => ENTITIES[name] ?? '')

export interface PageSample {
  /** The anchor of the section: the id of an operation, or of a guide. */
  section: string
  title: string
  texts: Record<Language, string>
}

export function readSamples(page: string): PageSample[] {
  const places = page.matchAll(
    /<section [^>]*aria-labelledby="([^"]+)"|<div class="code sample"[^>]*aria-label="([^"]+)">/g,
  )
  const samples: PageSample[] = []
  let section = ''
  for (const { 1: opened, 2: title, index } of places) {
    if (opened !== undefined) section = opened
    if (title === undefined) continue
    const texts = LANGUAGES.map(({ id }) => {
      const start = page.indexOf(`data-language="${id}"><code>`, index)
      return [id, textOf(page.slice(page.indexOf('<code>', start), page.indexOf('</code>', start)))]
    })
    samples.push({ section, title: textOf(title), texts: Object.fromEntries(texts) })
  }
  return samples
}

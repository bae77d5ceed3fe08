// The samples of the reference page, as a reader copies them. In: the HTML of the page. Out: the text of each sample by its section and
// its language.
import { LANGUAGES, type Language } from '../../services/edge/docs/samples/request.ts'

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** As `textContent` is in a browser. */
const textOf = (html: string): string =>
  html.replaceAll(/<[^>]+>/g, '').replaceAll(/&([\w#]+);/g, (_, name: string) => ENTITIES[name] ?? '')

/** What the sample of each operation prints, in the words of any of the languages. */
export const PRINTED: Record<'client' | 'admin', Record<string, RegExp>> = {
  client: {
    send: /otp_id\W+otp_[\s\S]*pending/,
    status: /otp_id\W+otp_[\s\S]*attempts_left\W+5\b/,
    verify: /matched\W+(false|False|\n?\s*\[)/,
    cancel: /status\W+(=>\s*)?canceled/,
    // Its token is an example: Countersign refuses it, and the sample says so.
    exchange: /404|Not Found/,
  },
  admin: {
    listCompanies: /cmp_acme/,
    createCompany: /cmp_[\s\S]*Acme/,
  },
}

/** The samples that a running Countersign shows of these operations. `otpId` takes the place of the verification in the examples. */
export async function samplesFrom(
  url: string,
  { language, operations, otpId }: { language: Language; operations: readonly string[]; otpId: string },
): Promise<Record<string, string>> {
  const pages = await Promise.all(
    ['client-api', 'admin-companies'].map(async page => (await fetch(`${url}/docs/${page}`)).text()),
  )
  const texts = new Map(pages.flatMap(readSamples).map(({ section, texts }) => [section, texts[language]]))
  return Object.fromEntries(
    operations.map(name => [
      name,
      (texts.get(name) ?? '')
        .replaceAll(/http:\/\/localhost:\d+/g, url)
        .replaceAll(/\botp_01k2m8x4e9s7v3hqz5tnw6yb0c\b/g, otpId),
    ]),
  )
}

interface PageSample {
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

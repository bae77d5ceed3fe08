// Which translations of a template to try. In: a BCP 47 tag. Out: Meta's language codes, the best first.
// https://developers.facebook.com/docs/whatsapp/business-management-api/message-templates/supported-languages
const WITHOUT_REGION =
  'af sq ar az bn bg ca hr cs da nl en et fil fi fr ka de el gu ha he hi hu id ga it ja kn kk ko lo lv lt mk ms ml mr nb fa pl pa ro ru sr sk sl es sw sv ta te th tr uk ur uz vi zu'
const WITH_REGION = 'en_US en_GB es_ES es_MX es_AR pt_BR pt_PT zh_CN zh_TW zh_HK rw_RW ky_KG'

const CODES: ReadonlySet<string> = new Set(`${WITHOUT_REGION} ${WITH_REGION}`.split(' '))
const REGIONAL_CODES: readonly string[] = WITH_REGION.split(' ')

/** Meta has one code for Norwegian. */
const ALIASES: Readonly<Record<string, string>> = { no: 'nb', nn: 'nb' }

/** Empty for a language Meta has no templates in, and for a malformed tag. */
export function metaLanguages(tag: string): string[] {
  const requested = localeOf(tag)
  if (!requested) return []
  const { language, region, script } = requested.maximize()
  const name = ALIASES[language] ?? language
  const exact = `${name}_${region}`
  const siblings = REGIONAL_CODES.filter(
    code => code.startsWith(`${name}_`) && (name !== 'zh' || scriptOf(code) === script),
  )
  // A region in the tag is a wish; without one, the language without a region is the best match.
  const first = requested.region === undefined ? [name, exact] : [exact, name]
  return [...new Set([...first, ...siblings])].filter(code => CODES.has(code))
}

/** Chinese for Taiwan and Hong Kong has other characters than Chinese for the mainland. */
const scriptOf = (code: string): string | undefined => localeOf(code.replace('_', '-'))?.maximize().script

function localeOf(tag: string): Intl.Locale | null {
  try {
    return new Intl.Locale(tag)
  } catch {
    return null
  }
}

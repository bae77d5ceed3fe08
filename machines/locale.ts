// Chooses the language of a text. In: the locale that the caller asked for, the app's default, the locales there are texts for.
// Out: one of the last.

/** Tries the wanted locale with its region, then its language alone, then the app's default in the same way, then English. A malformed
 *  tag counts as no locale. */
export const chooseLocale = (wanted: string | null, fallback: string, available: readonly string[]): string =>
  [...localeFallbacks(wanted), ...localeFallbacks(fallback)].find(tag => available.includes(tag)) ?? 'en'

/** `pt-BR` → pt-BR, pt. `zh-Hant-TW` → zh-Hant-TW, zh-Hant, zh. */
function localeFallbacks(tag: string | null): string[] {
  const subtags = canonicalLocale(tag)?.split('-') ?? []
  return subtags.map((_, dropped) => subtags.slice(0, subtags.length - dropped).join('-'))
}

/** `pt-br` → pt-BR; undefined for a malformed tag. */
export function canonicalLocale(tag: string | null): string | undefined {
  try {
    return tag ? Intl.getCanonicalLocales(tag)[0] : undefined
  } catch {
    return undefined
  }
}

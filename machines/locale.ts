// Which language to speak. In: what the caller asked for, what the app defaults to, what there are texts for. Out: one of those.

/** Region, then language, then the app's default the same way, then English. A malformed tag counts as none. */
export const chooseLocale = (wanted: string | null, fallback: string, available: readonly string[]): string =>
  [...widening(wanted), ...widening(fallback)].find(tag => available.includes(tag)) ?? 'en'

/** `pt-BR` → pt-BR, pt. `zh-Hant-TW` → zh-Hant-TW, zh-Hant, zh. */
function widening(tag: string | null): string[] {
  const parts = canonical(tag)?.split('-') ?? []
  return parts.map((_, dropped) => parts.slice(0, parts.length - dropped).join('-'))
}

function canonical(tag: string | null): string | undefined {
  try {
    return tag ? Intl.getCanonicalLocales(tag)[0] : undefined
  } catch {
    return undefined
  }
}

// The English name of a language tag, such as "Brazilian Portuguese" for pt-BR. Pure.

const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })

/** Null where the tag is malformed or has no name. */
export function languageName(tag: string): string | null {
  try {
    return names.of(tag) ?? null
  } catch {
    return null
  }
}

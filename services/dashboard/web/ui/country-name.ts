// The name of a country in the viewer's language. In: an ISO 3166-1 alpha-2 code. Out: its name; the code itself where it has none.

const names = new Intl.DisplayNames(undefined, { type: 'region' })

export function countryName(code: string): string {
  try {
    return names.of(code) ?? code
  } catch {
    // It is no code of a region.
    return code
  }
}

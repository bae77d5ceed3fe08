// In: a User-Agent header. Out: a few words by which a user recognises a session: "Firefox on Linux". Only names from these lists are
// stored, and of another client its first word: the header identifies a person more than it needs to.
const BROWSERS: readonly [pattern: RegExp, name: string][] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\/|\bOpera\b/, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const SYSTEMS: readonly [pattern: RegExp, name: string][] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]
const FIRST_WORD = /^[A-Za-z][A-Za-z-]{0,30}/

export function describeBrowser(userAgent: string): string {
  const nameIn = (list: typeof BROWSERS): string | undefined => list.find(([pattern]) => pattern.test(userAgent))?.[1]
  const browser = nameIn(BROWSERS) ?? FIRST_WORD.exec(userAgent)?.[0] ?? 'unknown browser'
  const system = nameIn(SYSTEMS)
  return system === undefined ? browser : `${browser} on ${system}`
}

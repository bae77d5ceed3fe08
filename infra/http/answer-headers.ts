// The headers that every answer has, so that a browser takes it for nothing else than it is. In: whether the public address is https. Out:
// headers. An answer cannot be read as another type, or loaded into a page of another site without CORS; and under https, a browser asks
// for nothing over plain http any more.
const YEAR_S = 365 * 24 * 60 * 60

export type AnswerHeaders = Readonly<Record<string, string>>

export const answerHeaders = (publicUrl: string | null): AnswerHeaders => ({
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  ...(publicUrl?.startsWith('https:') ? { 'Strict-Transport-Security': `max-age=${YEAR_S}` } : {}),
})

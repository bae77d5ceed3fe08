// One request, from which the samples in all languages are made, and the languages.

export interface SampleRequest {
  method: string
  /** From the root of the server, with its query. */
  path: string
  /** The variable of the environment that holds the key or token; null for a call without one. */
  token: string | null
  headers?: Readonly<Record<string, string>>
  /** Undefined for a request without a body. */
  body?: unknown
  /** False where the answer has no body. */
  answers: boolean
}

export const LANGUAGES = [
  { id: 'curl', name: 'curl' },
  { id: 'typescript', name: 'TypeScript' },
  { id: 'python', name: 'Python' },
  { id: 'go', name: 'Go' },
  { id: 'php', name: 'PHP' },
] as const

export type Language = (typeof LANGUAGES)[number]['id']

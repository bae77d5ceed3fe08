/** `broken`: messages, events or calls fail. `risky`: nothing fails yet. */
export interface Finding {
  state: 'ok' | 'risky' | 'broken'
  check: string
  text: string
}

export const createFinding =
  (check: string) =>
  (state: Finding['state'], text: string): Finding => ({ state, check, text })

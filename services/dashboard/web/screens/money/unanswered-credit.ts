// The credit whose answer has not come. In: a company, and what is credited. Out: the key that names the credit, so
// that a call after a lost answer enters it once, also when the dialog was closed or the page was loaded again
// meanwhile. Another amount or note is another credit.
import { Problem } from '../../api/problem.ts'
import { readInTab, storeInTab } from '../../data/browser-storage.ts'

export interface Credit {
  micros: number
  note: string
}

export interface NamedCredit extends Credit {
  key: string
}

const placeOf = (companyId: string): string => `credit ${companyId}`

export function readUnanswered(companyId: string): NamedCredit | null {
  const stored = readInTab(placeOf(companyId))
  return stored === null ? null : JSON.parse(stored)
}

export const storeUnanswered = (companyId: string, credit: NamedCredit | null): void =>
  storeInTab(placeOf(companyId), credit && JSON.stringify(credit))

/** The same credit again, or a new one with a new key. */
export const nameCredit = (credit: Credit, unanswered: NamedCredit | null): NamedCredit =>
  unanswered?.micros === credit.micros && unanswered.note === credit.note ? unanswered : { ...credit, key: newKey() }

const newKey = (): string => [...crypto.getRandomValues(new Uint32Array(4))].map(part => part.toString(36)).join('-')

/** Whether it is certain that the credit was not entered. `isRepeated`: an earlier call with the same key got no
 *  answer. A refusal before the server looks for that call, as of an ended session or for a step-up, says nothing about
 *  it; only a 422 comes after. */
export const isCertainlyNotEntered = (thrown: unknown, isRepeated: boolean): boolean =>
  thrown instanceof Problem && (isRepeated ? thrown.status === 422 : thrown.status >= 400 && thrown.status < 500)

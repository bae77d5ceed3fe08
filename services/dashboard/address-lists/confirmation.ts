// Finds lists of a PUT that an operator must confirm. In: the lists of the PUT, and the stored lists. Out: a problem
// for each class that would hold more than half of all addresses. It is found before the PUT is answered: the import
// goes on after the answer, and would refuse every client before anyone looks at it.
import { Buffer } from 'node:buffer'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  ADDRESS_CLASSES,
  type AddressListDoc,
  BOOTSTRAP_LIST_NAME,
  listId,
} from '../../domain/address-lists/documents.ts'
import { isMostlyBad } from '../../domain/address-lists/imports.ts'
import type { AddressSet } from '../../domain/address-lists/intervals.ts'
import { parseList, TooManyRanges } from '../../domain/address-lists/list-parser.ts'
import { CONFIRM_MOST_ADDRESSES, findToConfirm, holdMostWithStored } from '../../domain/address-lists/most-addresses.ts'
import type { InputProblem } from '../../domain/tenancy/problems.ts'
import type { ListInput } from './body.ts'

export interface ParsedInput extends ListInput {
  /** Null for a list without a text, with one that is confirmed, or with one whose import will fail. */
  set: AddressSet | null
}

/** It takes long and needs no stored list, so it is done before the exclusive change begins. */
export async function parseInput(given: readonly ListInput[]): Promise<ParsedInput[]> {
  const parsed: ParsedInput[] = []
  // One after the other: a list may have millions of lines.
  for (const one of given) {
    const text = one.text ?? one.cidrs?.join('\n')
    parsed.push({ ...one, set: text === undefined || one.confirm === true ? null : await parseText(text) })
  }
  return parsed
}

/** A class counts as it will be: with the new texts of the PUT, and with the stored lists that it keeps. */
export async function findUnconfirmed(
  given: readonly ParsedInput[],
  stored: readonly AddressListDoc[],
  load: (list: AddressListDoc) => Promise<AddressSet | null>,
): Promise<InputProblem[]> {
  const keptIds = new Set(given.filter(one => !isReplaced(one)).map(one => listId(one.class, one.name)))
  const kept = stored.filter(({ _id, name }) => name === BOOTSTRAP_LIST_NAME || keptIds.has(_id))
  const texts = given.flatMap(({ class: addressClass, text, set }, at) =>
    set === null ? [] : [{ class: addressClass, set, path: `lists.${at}.${text === undefined ? 'cidrs' : 'text'}` }],
  )
  const problems: InputProblem[] = []
  for (const addressClass of ADDRESS_CLASSES) {
    const newTexts = texts.filter(one => one.class === addressClass)
    const sets = newTexts.map(({ set }) => set)
    const others = kept.filter(list => list.class === addressClass)
    // Without a new text nothing is added to the class. What a URL holds is checked once it is fetched.
    if (newTexts.length === 0 || !(await holdMostWithStored(sets, others, load))) continue
    problems.push(...findToConfirm(newTexts).map(({ path }) => ({ path, message: CONFIRM_MOST_ADDRESSES })))
  }
  return problems
}

const isReplaced = ({ set, confirm }: ParsedInput): boolean => set !== null || confirm === true

async function parseText(text: string): Promise<AddressSet | null> {
  try {
    const parsed = await parseList(Buffer.from(text), () => nextTurn())
    return isMostlyBad(parsed) ? null : parsed.set
  } catch (error) {
    // The import reports it.
    if (error instanceof TooManyRanges) return null
    throw error
  }
}

// Finds lists that are probably a mistake. In: the lists of a PUT. Out: a problem for each that holds more than half of all addresses and
// is not confirmed. It is found before the PUT is answered: the import goes on after the answer, and an abusive list with `0.0.0.0/0`
// would refuse every client before anyone looks at it.
import { Buffer } from 'node:buffer'
import { yieldToEventLoop } from '../../domain/address-lists/imports.ts'
import { parseList, TooManyRanges } from '../../domain/address-lists/list-parser.ts'
import { CONFIRM_MOST_ADDRESSES, holdsMostAddresses } from '../../domain/address-lists/reserved.ts'
import type { InputProblem } from '../../domain/tenancy/problems.ts'
import type { ListInput } from './body.ts'

export async function findUnconfirmed(given: readonly ListInput[]): Promise<InputProblem[]> {
  const problems: InputProblem[] = []
  // One after the other: a list may have millions of lines.
  for (const [at, { cidrs, text, confirm }] of given.entries()) {
    const content = text ?? cidrs?.join('\n')
    if (content === undefined || confirm === true || !(await holdsMost(content))) continue
    problems.push({ path: `lists.${at}.${text === undefined ? 'cidrs' : 'text'}`, message: CONFIRM_MOST_ADDRESSES })
  }
  return problems
}

async function holdsMost(text: string): Promise<boolean> {
  try {
    const { set } = await parseList(Buffer.from(text), yieldToEventLoop)
    return holdsMostAddresses([set.v4, set.v6])
  } catch (error) {
    // The import reports it.
    if (error instanceof TooManyRanges) return false
    throw error
  }
}

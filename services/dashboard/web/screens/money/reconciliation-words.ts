// The result of a reconciliation, in words. In: the API's answer. Out: sentences with amounts as people read them.
import type { Schemas } from '../../api/schema.ts'
import { formatMicros } from '../../data/amounts.ts'

export type Reconciliation = Schemas['Reconciliation']

const count = (number: number, one: string, many: string): string => `${number} ${number === 1 ? one : many}`

export function reconciliationText({ balance, entries, sum, deliveries, problems }: Reconciliation): string {
  if (problems.length > 0) return `${count(problems.length, 'contradiction was', 'contradictions were')} found.`
  if (entries === 0) return 'Everything adds up: nothing was ever charged or credited.'
  const agreeing = `${count(entries, 'entry comes', 'entries come')} to ${formatMicros(sum)}, which is the balance`
  const messages =
    deliveries === 0
      ? 'there is no paid message'
      : `${count(deliveries, 'paid message has', 'paid messages have')} the right charge`
  return sum === balance
    ? `Everything adds up: ${agreeing}, and ${messages}.`
    : `The entries come to ${formatMicros(sum)}, and the balance is ${formatMicros(balance)}.`
}

const amount = (digits: string): string => formatMicros(Number(digits))

type Rule = [pattern: RegExp, text: (...found: string[]) => string]

/** What the API says of each contradiction, with its numbers in micro-units. */
const RULES: readonly Rule[] = [
  [/^entry (\d+) is missing$/, nth => `Entry ${nth} of the ledger is missing.`],
  [
    /^entry (\d+) leaves (-?\d+), not (-?\d+)$/,
    (nth, has, should) =>
      `Entry ${nth} says a balance of ${amount(has)}, and the entries so far come to ${amount(should)}.`,
  ],
  [/^entry (\d+) overdraws$/, nth => `Entry ${nth} takes the balance below zero.`],
  [
    /^the balance is (-?\d+), its entries come to (-?\d+)$/,
    (balance, sum) => `The balance is ${amount(balance)}, and its entries come to ${amount(sum)}.`,
  ],
  [
    /^cap (\S+) has counted (-?\d+), not (-?\d+)$/,
    (cap, has, should) => `The spend cap ${cap} has counted ${amount(has)}, and its charges come to ${amount(should)}.`,
  ],
  [
    /^(dlv_\w+): costs (-?\d+), held is (-?\d+)$/,
    (id, cost, held) => `The message ${id} costs ${amount(cost)}, and ${amount(held)} was charged for it.`,
  ],
  [/^(dlv_\w+): failed and not given back$/, id => `The message ${id} failed, and its price was not given back.`],
  [
    /^(dlv_\w+): given back, and (\w+)$/,
    (id, status) => `The price of the message ${id} was given back, and the message is ${status}.`,
  ],
  [
    /^(dlv_\w+): not charged again$/,
    id => `The code of the message ${id} was entered after its refund, and the message was not charged again.`,
  ],
  [
    /^(dlv_\w+): charged again, and (\w+)$/,
    (id, status) => `The message ${id} was charged again without need: it is ${status}.`,
  ],
  [/^(dlv_\w+): held for, and there is none$/, id => `The message ${id} was charged, and there is no such message.`],
]

/** A contradiction that has no words here is shown as the API says it. */
export function problemText(problem: string): string {
  for (const [pattern, text] of RULES) {
    const found = pattern.exec(problem)
    if (found) return text(...found.slice(1))
  }
  return problem
}

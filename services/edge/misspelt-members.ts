// In: the schema of a body and the members that came. Out: those that the caller took for a member of the schema, with the name that was
// meant, or with the reason why that member cannot be sent. Unknown members are ignored, and a misspelt one would be lost without a word: a send whose `clientIp` is ignored counts in
// the tight limit of sends without an address.
import { z } from 'zod'
import { didYouMean } from '../domain/tenancy/problem-words.ts'
import type { InputProblem } from '../domain/tenancy/problems.ts'

/** Names that other services use for a required member. They are refused only where that member is missing. */
const NAMES_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  recipient: ['to', 'phone', 'phone_number', 'number', 'email'],
  otp_id: ['id', 'verification_id'],
  code: ['otp', 'pin'],
  verification_token: ['token'],
}

/** At most one problem for each member of the schema, because a body can hold a name in hundreds of spellings. */
export function findMisspeltMembers({ shape }: z.ZodObject, body: Readonly<Record<string, unknown>>): InputProblem[] {
  const unknown = Object.keys(body).filter(name => !Object.hasOwn(shape, name))
  if (unknown.length === 0) return []
  return Object.keys(shape).flatMap(known => {
    const namesElsewhere = (body[known] ?? null) === null ? (NAMES_ELSEWHERE[known] ?? []) : []
    const spellings = new Set([known, ...namesElsewhere].map(withoutSpelling))
    const misspelt = unknown.find(name => spellings.has(withoutSpelling(name)))
    return misspelt === undefined ? [] : [{ path: misspelt, message: refusedAlways(shape[known]) ?? didYouMean(known) }]
  })
}

const withoutSpelling = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '')

/** Why a member that may only be null is refused; null for any other member. */
function refusedAlways(member: z.core.$ZodType | undefined): string | null {
  const isNullOnly = member instanceof z.ZodOptional && member.unwrap() instanceof z.ZodNull
  return isNullOnly ? (member.safeParse('').error?.issues[0]?.message ?? null) : null
}

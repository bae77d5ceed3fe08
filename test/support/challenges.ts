// Solves challenges as a device does. In: the answer to a call, or a caller. Out: the solution, or the answer to the call that brings it.
import { solveChallenge } from '../../clients/typescript/src/challenge-solver.ts'
import type { Answer, Caller, SendOptions } from './api-caller.ts'

/** `body`: of a refusal with a challenge. */
export function solutionOf({ body }: Pick<Answer, 'body'>): string {
  const { salt, difficulty, signature } = body.challenge
  return `${salt}.${solveChallenge(salt, difficulty)}.${signature}`
}

/** Sends, and again with a solved challenge if one is asked for. */
export async function sendSolved(device: Caller, recipient: string, options: SendOptions = {}): Promise<Answer> {
  const first = await device.send(recipient, options)
  if (first.body.type !== 'ChallengeRequiredError') return first
  return device.send(recipient, { ...options, solution: solutionOf(first) })
}

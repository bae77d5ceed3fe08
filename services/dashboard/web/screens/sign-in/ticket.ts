// The ticket of a sign-in link. In: `?ticket=` of the address. Out: a session, or why there is none. The ticket leaves
// the address at once, so that neither the history nor a copied address keeps it.
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { SIGN_IN_PATH } from '../../../screens.ts'
import { api, bodyOf } from '../../api/client.ts'
import type { Problem } from '../../api/problem.ts'
import { useSessionControl } from '../../data/session.tsx'
import { useChange } from '../../data/use-change.ts'

export interface TicketSignIn {
  /** `none`: the address had no ticket. */
  outcome: 'none' | 'under way' | 'signed in' | 'refused'
  problem: Problem | null
  /** Undefined when the ticket was refused for good. */
  retry: (() => void) | undefined
}

export function useTicketSignIn(): TicketSignIn {
  const { state, problem, begin } = useSessionControl()
  const { query, route } = useLocation()
  const [ticket] = useState(query.ticket ?? null)
  const [isSignedIn, setIsSignedIn] = useState(false)
  const change = useChange()
  const isTried = useRef(false)
  // The answer to "who is signed in" would end a session that began before it came.
  const isChecked = state !== 'unknown' || problem !== null

  const signIn = () =>
    change.run(async () => {
      const answer = await bodyOf(api.POST('/admin/v1/sign-in', { body: { ticket: ticket ?? '' } }))
      if ('role' in answer) begin(answer)
      setIsSignedIn(true)
    })
  useEffect(() => {
    if (ticket !== null) route(SIGN_IN_PATH, true)
  }, [ticket])
  useEffect(() => {
    if (ticket === null || !isChecked || isTried.current) return
    isTried.current = true
    void signIn()
  }, [ticket, isChecked])

  return {
    outcome: ticketOutcome(),
    problem: change.problem,
    retry: change.problem === null || change.problem.status === 401 ? undefined : signIn,
  }

  function ticketOutcome(): TicketSignIn['outcome'] {
    if (ticket === null) return 'none'
    if (isSignedIn) return 'signed in'
    return change.problem === null || change.busy ? 'under way' : 'refused'
  }
}

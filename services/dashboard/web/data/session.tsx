// Who is signed in. In: GET /me. Out: the caller for every component, and whether the caller's role allows something.
import { type ComponentChildren, createContext } from 'preact'
import { useCallback, useContext, useEffect, useState } from 'preact/hooks'
import { api, bodyOf, type Schemas, setCsrfToken, whenSessionEnds } from '../api/client.ts'
import { Problem } from '../api/problem.ts'

export type Me = Schemas['Me']
export type Role = Me['role']

const ROLES: readonly Role[] = ['viewer', 'developer', 'owner', 'operator']

export type SessionState = 'unknown' | 'signed out' | Me

export interface SessionControl {
  state: SessionState
  /** Why it is not known who is signed in. */
  problem: Problem | null
  /** After signing in. */
  begin(me: Me): void
  signOut(): Promise<void>
  /** Asks again who is signed in. */
  check(): Promise<void>
}

const SessionContext = createContext<SessionControl | null>(null)

export function SessionProvider({ children }: { children: ComponentChildren }) {
  const [state, setState] = useState<SessionState>('unknown')
  const [problem, setProblem] = useState<Problem | null>(null)

  const begin = useCallback((me: Me) => {
    setCsrfToken(me.csrf_token)
    setProblem(null)
    setState(me)
  }, [])
  const end = useCallback(() => {
    setCsrfToken(null)
    setState('signed out')
  }, [])
  const check = useCallback(async () => {
    try {
      begin(await bodyOf(api.GET('/admin/v1/me')))
    } catch (thrown) {
      const refused = Problem.from(thrown)
      if (refused.status === 401) end()
      else setProblem(refused)
    }
  }, [begin, end])
  const signOut = useCallback(async () => {
    await api.POST('/admin/v1/sign-out').catch(() => {})
    sessionStorage.clear()
    end()
  }, [end])

  useEffect(() => {
    whenSessionEnds(end)
    void check()
  }, [check, end])

  return <SessionContext.Provider value={{ state, problem, begin, signOut, check }}>{children}</SessionContext.Provider>
}

export function useSessionControl(): SessionControl {
  const control = useContext(SessionContext)
  if (control === null) throw new Error('there is no SessionProvider around this component')
  return control
}

/** The caller. Only for components inside the shell, which is shown to signed-in viewers alone. */
export function useMe(): Me {
  const { state } = useSessionControl()
  if (typeof state === 'string') throw new Error('nobody is signed in')
  return state
}

/** Whether the caller's role allows what `lowest` may do: `const mayChange = useMay('developer')`. */
export const useMay = (lowest: Role): boolean => ROLES.indexOf(useMe().role) >= ROLES.indexOf(lowest)

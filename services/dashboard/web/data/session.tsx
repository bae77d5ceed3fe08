// Who is signed in. In: GET /session. Out: the caller for every component, and whether the caller's role allows something.
import { type ComponentChildren, createContext } from 'preact'
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks'
import { api, bodyOf, type Schemas, setCsrfToken, whenChangeIsForbidden, whenSessionEnds } from '../api/client.ts'
import { Problem } from '../api/problem.ts'
import { claimTab, clearTab } from './browser-storage.ts'

export type Me = Schemas['Me']
export type Role = NonNullable<Me['role']>

const ROLES: readonly Role[] = ['viewer', 'developer', 'owner', 'operator']

export type SessionState = 'unknown' | 'signed out' | Me

export interface SessionControl {
  state: SessionState
  /** Whether people can sign in with passkeys here, in this browser. */
  hasPasskeys: boolean
  /** Why it is not known who is signed in. */
  problem: Problem | null
  /** After signing in, and after choosing another company. */
  begin(me: Me): void
  /** After an answer that there is no session any more. */
  end(): void
  /** Throws a `Problem` when the viewer is still signed in. */
  signOut(): Promise<void>
  /** Asks again who is signed in. */
  check(): Promise<void>
}

const SessionContext = createContext<SessionControl | null>(null)

export function SessionProvider({ children }: { children: ComponentChildren }) {
  const [state, setState] = useState<SessionState>('unknown')
  const [problem, setProblem] = useState<Problem | null>(null)
  const [hasPasskeys, setHasPasskeys] = useState(false)
  const owner = useRef<string | null>(null)

  const begin = useCallback((me: Me) => {
    owner.current = ownerOf(me)
    claimTab(owner.current)
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
      const { me, passkeys } = await bodyOf(api.GET('/admin/v1/session'))
      setHasPasskeys(passkeys && 'PublicKeyCredential' in globalThis)
      if (me === null) end()
      else begin(me)
    } catch (thrown) {
      setProblem(Problem.from(thrown))
    }
  }, [begin, end])
  /** Another person may have signed in in another tab: this page is not theirs. The same person may have chosen another company there. */
  const renew = useCallback(async () => {
    const me = await bodyOf(api.GET('/admin/v1/me')).catch(() => null)
    if (me === null) return
    if (ownerOf(me) === owner.current) begin(me)
    else end()
  }, [begin, end])
  const signOut = useCallback(async () => {
    try {
      await api.POST('/admin/v1/sign-out')
    } catch (thrown) {
      // A session that has ended already is what was asked for.
      if (Problem.from(thrown).status !== 401) throw thrown
    }
    clearTab()
    end()
  }, [end])

  useEffect(() => {
    whenSessionEnds(end)
    whenChangeIsForbidden(renew)
    void check()
  }, [check, end, renew])

  const control = { state, hasPasskeys, problem, begin, end, signOut, check }
  return <SessionContext.Provider value={control}>{children}</SessionContext.Provider>
}

/** One person, however often they sign in: they have another id in each company. */
const ownerOf = ({ email, id, name }: Me): string => email ?? id ?? `operator:${name}`

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
export function useMay(lowest: Role): boolean {
  const { role } = useMe()
  return role !== null && ROLES.indexOf(role) >= ROLES.indexOf(lowest)
}

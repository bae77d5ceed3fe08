// The front door: signs in with the link that a start prints, with the operator's token, with a passkey, or with an
// email address and a code. A viewer who is signed in is sent on.
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { useSessionControl } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { type CodeSent, EmailForm } from './email-form.tsx'
import { nextPath } from './next-path.ts'
import { PasskeyButton } from './passkey-button.tsx'
import { Showcase } from './showcase.tsx'
import './sign-in.css'
import { useTicketSignIn } from './ticket.ts'
import { TokenForm } from './token-form.tsx'

/** A first start leads to the first verified code. */
const AFTER_TICKET = '/try'

export function SignIn() {
  const { state, problem, check } = useSessionControl()
  const { query, route } = useLocation()
  const ticket = useTicketSignIn()
  // With a ticket, the session of the ticket counts, not one that the browser had before.
  const mayGoOn = typeof state === 'object' && ticket.outcome !== 'under way'

  useEffect(() => {
    document.title = 'Sign in · Countersign'
  }, [])
  useEffect(() => {
    if (mayGoOn) route(ticket.outcome === 'none' ? nextPath(query.next) : AFTER_TICKET, true)
  }, [mayGoOn])

  return (
    <div class="sign-in">
      <main class="sign-in-door">
        <div class="sign-in-content">
          <p class="sign-in-brand">
            <img src="/favicon.svg" alt="" width="32" height="32" />
            Countersign
          </p>
          <h1>Sign in to Countersign</h1>
          {ticket.outcome === 'under way' && (
            <p class="soft" role="status">
              Signing you in…
            </p>
          )}
          {ticket.outcome === 'refused' && ticket.problem && (
            <ProblemNotice problem={ticket.problem} {...(ticket.retry ? { onRetry: ticket.retry } : {})} />
          )}
          {problem && <ProblemNotice problem={problem} onRetry={check} />}
          {/* While it is not known who is signed in, forms would only flash by. */}
          {state === 'signed out' && ticket.outcome !== 'under way' && (
            <Ways operatorExpected={ticket.outcome === 'refused'} />
          )}
        </div>
      </main>
      <Showcase />
    </div>
  )
}

/** Both ways stand side by side until a code is on its way; then the token steps back, so that one button is the obvious one. */
function Ways({ operatorExpected }: { operatorExpected: boolean }) {
  const [sent, setSent] = useState<CodeSent | null>(null)
  const { hasPasskeys } = useSessionControl()
  const [isTokenFocused, setIsTokenFocused] = useState(operatorExpected)
  const showSent = (answer: CodeSent | null) => {
    setIsTokenFocused(false)
    setSent(answer)
  }
  const useToken = () => {
    setIsTokenFocused(true)
    setSent(null)
  }
  return (
    <>
      <EmailForm sent={sent} onSent={showSent} />
      <p class="sign-in-or">or</p>
      {hasPasskeys && (
        <>
          <PasskeyButton />
          <p class="sign-in-or">or</p>
        </>
      )}
      {sent ? (
        <Button onClick={useToken}>Use the operator token instead</Button>
      ) : (
        <TokenForm focused={isTokenFocused} />
      )}
    </>
  )
}

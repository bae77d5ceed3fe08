// Signs a user in with an email address and the code that Countersign sends to it: first the address, then the code in its place.
import { useState } from 'preact/hooks'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { Problem } from '../../api/problem.ts'
import { useSessionControl } from '../../data/session.tsx'
import { type Change, useChange } from '../../data/use-change.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { EntryForm } from './entry-form.tsx'

export type CodeSent = Schemas['SignInCodeSent']

export interface EmailFormProps {
  /** Null until a code was asked for. */
  sent: CodeSent | null
  onSent(sent: CodeSent | null): void
}

const NOT_AN_ADDRESS = 'Enter an email address, such as ada@example.com.'

export function EmailForm({ sent, onSent }: EmailFormProps) {
  const [email, setEmail] = useState('')
  const [isBack, setIsBack] = useState(false)
  const change = useChange()
  const ask = () =>
    change.run(async () => {
      if (email.trim() === '') throw new Problem(422, {})
      const answer = await bodyOf(api.POST('/admin/v1/sign-in', { body: { email } }))
      if ('next' in answer) onSent(answer)
    })
  const goBack = () => {
    change.reset()
    setIsBack(true)
    onSent(null)
  }
  if (sent) return <CodeForm email={email} sent={sent} asking={change} onAskAgain={ask} onBack={goBack} />
  return (
    <EntryForm
      field={{
        label: 'Email',
        type: 'email',
        inputMode: 'email',
        hint: 'For members of a team: a code comes to this address.',
        value: email,
        onInput: setEmail,
        autocomplete: 'username',
      }}
      button="Send code"
      change={change}
      wordsOf={() => NOT_AN_ADDRESS}
      onSubmit={ask}
      focused={isBack}
    />
  )
}

interface CodeFormProps {
  email: string
  sent: CodeSent
  asking: Change
  onAskAgain(): Promise<boolean>
  onBack(): void
}

function CodeForm({ email, sent, asking, onAskAgain, onBack }: CodeFormProps) {
  const { begin } = useSessionControl()
  const [code, setCode] = useState('')
  const [asked, setAsked] = useState(1)
  const change = useChange()
  const signIn = () =>
    change.run(async () => {
      if (code.trim() === '') throw new Problem(422, {})
      const answer = await bodyOf(api.POST('/admin/v1/sign-in', { body: { email, code } }))
      if ('role' in answer) begin(answer)
    })
  const askAgain = async () => {
    change.reset()
    if (await onAskAgain()) setAsked(asked + 1)
  }
  return (
    <div class="sign-in-code">
      <Notice tone={sent.sent_by === 'email' ? 'good' : 'info'}>
        <p>
          {asked > 1 && 'Asked again. '}
          {sent.detail}
        </p>
        {sent.sent_by === 'sandbox' && (
          <p>
            An operator finds it on the screen Try it, under Sandbox messages, for the address <strong>{email}</strong>.
          </p>
        )}
      </Notice>
      <EntryForm
        field={{
          label: 'Code',
          hint: `For ${email}`,
          value: code,
          onInput: setCode,
          inputMode: 'numeric',
          autocomplete: 'one-time-code',
          monospace: true,
        }}
        button="Sign in"
        change={asking.problem ? asking : change}
        wordsOf={({ status, detail }) => (status === 401 ? detail : 'Enter the code from the message.')}
        onSubmit={() => {
          asking.reset()
          void signIn()
        }}
        focused
      >
        <Button look="quiet" busy={asking.busy} onClick={askAgain}>
          Send another code
        </Button>
        <Button look="quiet" onClick={onBack}>
          Use another address
        </Button>
      </EntryForm>
    </div>
  )
}

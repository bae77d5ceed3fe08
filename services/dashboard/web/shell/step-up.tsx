// Asks the viewer to prove again who they are, when a change needs it. The change waits meanwhile, with all that was typed, and is repeated
// afterwards: with a passkey, with a code that is sent to the viewer's address, or, for an operator, with the token.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { api, bodyOf, type Schemas, type StepUpWay, whenStepUpIsAsked } from '../api/client.ts'
import { askForPasskey } from '../data/passkeys.ts'
import { type Change, useChange } from '../data/use-change.ts'
import { Button } from '../ui/button.tsx'
import { Actions, Dialog, SubmitActions } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { ProblemNotice } from '../ui/notice.tsx'

interface Asked {
  ways: readonly StepUpWay[]
  answer(proved: boolean): void
}

export function StepUp() {
  // Two changes at once may need it: one proof is good for both.
  const [asked, setAsked] = useState<readonly Asked[]>([])
  useEffect(
    () => whenStepUpIsAsked(ways => new Promise(answer => setAsked(others => [...others, { ways, answer }]))),
    [],
  )
  const [first] = asked
  if (first === undefined) return null
  const close = (proved: boolean) => {
    setAsked([])
    for (const { answer } of asked) answer(proved)
  }
  return (
    <Dialog title="Is it still you?" onClose={() => close(false)}>
      {first.ways.includes('token') ? (
        <Token onProved={() => close(true)} onCancel={() => close(false)} />
      ) : (
        <Person ways={first.ways} onProved={() => close(true)} onCancel={() => close(false)} />
      )}
    </Dialog>
  )
}

interface ProofProps {
  onProved(): void
  onCancel(): void
}

const WHY = 'This change matters, so prove again who you are. It is good for ten minutes.'

const prove = (body: Schemas['StepUpRequest']) => bodyOf(api.POST('/admin/v1/step-up', { body }))

function Token({ onProved, onCancel }: ProofProps) {
  const [token, setToken] = useState('')
  const change = useChange()
  const submit = async () => {
    if (await change.run(async () => void (await prove({ token: token.trim() })))) onProved()
  }
  return (
    <Form change={change} onSubmit={submit}>
      <p>{WHY}</p>
      <TextField
        label="Operator token"
        type="password"
        hint="The one of ADMIN_TOKEN with which you are signed in."
        value={token}
        onInput={setToken}
        error={change.errorOf('token')}
        autocomplete="current-password"
        autofocus
      />
      <SubmitActions action="Confirm" busy={change.busy} onCancel={onCancel} />
    </Form>
  )
}

function Person({ ways, onProved, onCancel }: ProofProps & { ways: readonly StepUpWay[] }) {
  const [sent, setSent] = useState<string | null>(null)
  const change = useChange()
  const confirmWithPasskey = async () => {
    const isProved = await change.run(async () => {
      const passkey = await askForPasskey(await bodyOf(api.POST('/admin/v1/step-up/passkey')))
      await prove({ passkey })
    })
    if (isProved) onProved()
  }
  const sendCode = () =>
    change.run(async () => {
      const answer = await prove({})
      if ('detail' in answer) setSent(answer.detail)
    })
  if (sent !== null)
    return <Code sent={sent} asking={change} onAskAgain={sendCode} onProved={onProved} onCancel={onCancel} />
  const hasPasskey = ways.includes('passkey')
  return (
    <>
      <p>{WHY}</p>
      {change.problem && <ProblemNotice problem={change.problem} />}
      <Actions>
        {hasPasskey && (
          <Button look="primary" busy={change.busy} onClick={confirmWithPasskey}>
            Use a passkey
          </Button>
        )}
        <Button look={hasPasskey ? 'plain' : 'primary'} busy={change.busy} onClick={sendCode}>
          Send a code
        </Button>
        <Button look="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </Actions>
    </>
  )
}

interface CodeProps extends ProofProps {
  sent: string
  /** The request for the code that was sent. */
  asking: Change
  onAskAgain(): Promise<boolean>
}

function Code({ sent, asking, onAskAgain, onProved, onCancel }: CodeProps) {
  const [code, setCode] = useState('')
  const [asked, setAsked] = useState(1)
  const change = useChange()
  const place = useRef<HTMLDivElement>(null)
  // The dialog is open already, so autofocus does nothing; the next code that is typed replaces a refused one.
  useLayoutEffect(() => {
    const field = place.current?.querySelector('input')
    field?.focus()
    field?.select()
  }, [asked, change.problem])
  const submit = async () => {
    asking.reset()
    if (await change.run(async () => void (await prove({ code })))) onProved()
  }
  const askAgain = async () => {
    change.reset()
    if (!(await onAskAgain())) return
    setCode('')
    setAsked(asked + 1)
  }
  return (
    <div ref={place}>
      <Form change={asking.problem ? asking : change} onSubmit={submit}>
        <p role="status">
          {asked > 1 && 'Asked again. '}
          {sent}
        </p>
        <TextField
          label="Code"
          value={code}
          onInput={setCode}
          error={change.errorOf('code')}
          inputMode="numeric"
          autocomplete="one-time-code"
          monospace
        />
        <Actions>
          <Button look="primary" type="submit" busy={change.busy}>
            Confirm
          </Button>
          <Button look="quiet" busy={asking.busy} onClick={askAgain}>
            Send another code
          </Button>
          <Button look="quiet" onClick={onCancel}>
            Cancel
          </Button>
        </Actions>
      </Form>
    </div>
  )
}

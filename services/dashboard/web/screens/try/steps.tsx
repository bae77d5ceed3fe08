// What the app does, step by step: send, check, and as a device exchange. Enter goes on at each step, and the focus follows.
import type { Ref } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { linkToScreen } from '../../../screens.ts'
import type { Schemas } from '../../api/client.ts'
import { CHANNEL_NAMES, channelsFor } from '../../data/channels.ts'
import { useApp } from '../../data/tenant.tsx'
import { Status } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Switch, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import { acceptedBody, type Call, refusalOf } from './call-api.ts'
import { attemptsLeft } from './progress.ts'
import type { TestSend } from './use-test-send.ts'

export interface StepsProps {
  testSend: TestSend
  recipient: string
  onRecipient(recipient: string): void
  code: string
  onCode(code: string): void
  asDevice: boolean
  onAsDevice(asDevice: boolean): void
  /** Around the fields, to focus them from elsewhere. */
  recipientPlace: Ref<HTMLDivElement>
  codePlace: Ref<HTMLDivElement>
}

export function Steps(props: StepsProps) {
  const { testSend, recipient, asDevice, code } = props
  const { started, answers, sending, verifying } = testSend
  const isInbound = started?.verification.completion === 'inbound'
  const [submittedEmpty, setSubmittedEmpty] = useState(false)
  const isEmpty = code.trim() === ''
  const verify = () => {
    setSubmittedEmpty(isEmpty)
    if (!isEmpty) void testSend.verify(code)
  }
  return (
    <div class="try-steps">
      <Switch
        label="As a device"
        hint="With a publishable key, as in a mobile app or on a web page. Your backend exchanges the proof."
        checked={asDevice}
        onChange={props.onAsDevice}
      />
      {asDevice && <OriginNotice />}
      <div ref={props.recipientPlace} class="try-step">
        <Form change={sending} onSubmit={() => testSend.send(recipient)}>
          <TextField
            label="Recipient"
            value={recipient}
            onInput={props.onRecipient}
            error={refusalOf(answers.send)}
            autofocus
          />
          <Button look="primary" type="submit" busy={sending.busy}>
            Send code
          </Button>
        </Form>
        <p class="hint" role="status">
          {testSend.solving !== null && `Solving a challenge of ${testSend.solving} bits…`}
        </p>
      </div>
      <div class="try-again">
        <Button look="quiet" disabled={started === null} onClick={() => testSend.resend(null)}>
          Resend
        </Button>
        {channelsFor(started?.recipient ?? recipient).map(channel => (
          <Button key={channel} look="quiet" disabled={started === null} onClick={() => testSend.resend(channel)}>
            Resend by {CHANNEL_NAMES[channel]}
          </Button>
        ))}
        <Button look="quiet" disabled={started === null} onClick={testSend.readStatus}>
          Read status
        </Button>
        <p class="error" role="status">
          {refusalOf(answers.again)}
        </p>
      </div>
      {isInbound ? (
        <p>In this mode of WhatsApp nothing is typed: the person’s message approves. Play it in the inbox.</p>
      ) : (
        <div ref={props.codePlace} class="try-step">
          <Form change={verifying} onSubmit={verify}>
            <TextField
              label="Code"
              value={code}
              onInput={props.onCode}
              inputMode="numeric"
              autocomplete="one-time-code"
              monospace
              disabled={started === null}
              error={submittedEmpty && isEmpty ? 'Enter the code from the message.' : refusalOf(answers.verify)}
            />
            <Button look="primary" type="submit" busy={verifying.busy} disabled={started === null}>
              Verify
            </Button>
          </Form>
        </div>
      )}
      <Result testSend={testSend} asDevice={asDevice} />
      {asDevice && <Exchange testSend={testSend} />}
    </div>
  )
}

/** An app that lists origins refuses its publishable keys from other pages, also from this one. */
function OriginNotice() {
  const { allowed_origins } = useApp().settings
  if (allowed_origins.length === 0 || allowed_origins.includes(location.origin)) return null
  return (
    <Notice tone="warning">
      <p>
        This app lists the web pages that may use a publishable key, and <code>{location.origin}</code> is not among
        them: the API refuses this page. The same request from a terminal is accepted.{' '}
        <ScreenLink to="/settings">{linkToScreen('/settings')}</ScreenLink>
      </p>
    </Notice>
  )
}

/** Always there, so that its changes are read out. */
function Result({ testSend: { started, progress, answers }, asDevice }: { testSend: TestSend; asDevice: boolean }) {
  const checked = acceptedBody<Schemas['VerifyResult']>(answers.verify)
  const status = checked?.status === 'approved' ? 'approved' : (progress.data?.verification.status ?? 'pending')
  return (
    <div class="try-result" role="status">
      {started !== null && status !== 'pending' && <Status of={status} />}
      {status === 'approved' && (
        <span>{asDevice ? 'That is what the device is told.' : `The person controls ${started?.recipient}.`}</span>
      )}
      {status !== 'approved' && checked !== null && (
        <span>The code is wrong. {attemptsLeft(checked.attempts_left)}</span>
      )}
    </div>
  )
}

/** A device may lie, so its backend asks for the proof itself. */
function Exchange({ testSend: { token, answers, exchanging, exchange } }: { testSend: TestSend }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (token !== null) place.current?.querySelector('button')?.focus()
  }, [token])
  return (
    <div ref={place} class="try-exchange">
      <p>
        {token === null ? (
          <span class="soft">With the right code the device gets a token, which your backend exchanges.</span>
        ) : (
          <>
            The device hands this token to your backend: <code>{token}</code>
          </>
        )}
      </p>
      <Button look="primary" busy={exchanging.busy} disabled={token === null} onClick={exchange}>
        Exchange
      </Button>
      {exchanging.problem && <ProblemNotice problem={exchanging.problem} />}
      <div role="status">
        <Exchanged call={answers.exchange} />
      </div>
    </div>
  )
}

function Exchanged({ call }: { call: Call | null }) {
  const refusal = refusalOf(call)
  if (refusal !== undefined) return <p class="error">{refusal}</p>
  const proof = acceptedBody<Schemas['ExchangeResult']>(call)
  if (proof === null) return null
  return (
    <p>
      Proved: <strong>{proof.recipient}</strong> by {CHANNEL_NAMES[proof.channel]}.
    </p>
  )
}

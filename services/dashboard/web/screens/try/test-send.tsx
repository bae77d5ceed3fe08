// The parts of the screen around one verification: the steps beside the inbox, the request beside the webhook's events. Nothing that is
// pressed or typed moves when an answer comes.
import { useEffect, useRef, useState } from 'preact/hooks'
import { Card } from '../../ui/card.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { sendRequest } from './api-request.ts'
import { Calls } from './calls.tsx'
import { Inbox } from './inbox.tsx'
import { MagicList } from './magic-list.tsx'
import { WORKING_RECIPIENT } from './magic-recipients.ts'
import { Steps } from './steps.tsx'
import { useTestSend } from './use-test-send.ts'
import { WebhookEvents } from './webhook-events.tsx'

export function TestSend() {
  const [recipient, setRecipient] = useState(WORKING_RECIPIENT)
  const [code, setCode] = useState('')
  const [asDevice, setAsDevice] = useState(false)
  const testSend = useTestSend(asDevice ? 'publishable' : 'server')
  const { started, calls, progress } = testSend
  const recipientPlace = useRef<HTMLDivElement>(null)
  const codePlace = useRef<HTMLDivElement>(null)

  // A code belongs to one verification.
  const otpId = started?.otpId
  useEffect(() => setCode(''), [otpId])

  // When the message has arrived, the code is the next thing to type; but the focus is not taken from another place.
  const messageCount = progress.data?.messages.length ?? 0
  useEffect(() => {
    const { activeElement } = document
    const isFree = activeElement === document.body || recipientPlace.current?.contains(activeElement)
    if (messageCount > 0 && isFree) focusField(codePlace.current)
  }, [messageCount])

  const next = sendRequest(recipient)(asDevice ? 'pk_test_…' : 'sk_test_…')
  return (
    <>
      <div class="try-rows">
        <Card title="Your app">
          <Steps
            testSend={testSend}
            recipient={recipient}
            onRecipient={setRecipient}
            code={code}
            onCode={setCode}
            asDevice={asDevice}
            onAsDevice={checked => {
              setAsDevice(checked)
              testSend.startOver()
            }}
            recipientPlace={recipientPlace}
            codePlace={codePlace}
          />
        </Card>
        <Card title="Inbox">
          <Inbox
            recipient={started?.recipient ?? null}
            refused={testSend.answers.send !== null}
            actionUrl={started?.verification.action_url ?? null}
            progress={progress.data}
            onUseCode={used => {
              setCode(used)
              focusField(codePlace.current)
            }}
            onPlayed={progress.reload}
          />
          {progress.problem && <ProblemNotice problem={progress.problem} onRetry={progress.reload} />}
        </Card>
        <Calls calls={calls} next={next} />
        <Card title="Webhook">
          <WebhookEvents events={progress.data?.events ?? []} />
        </Card>
      </div>
      <Card
        title="Magic numbers and addresses"
        lead="With a test key, each has a fixed outcome. A click fills the field above."
      >
        <MagicList
          onPick={picked => {
            setRecipient(picked)
            focusField(recipientPlace.current)
          }}
        />
      </Card>
    </>
  )
}

const focusField = (place: HTMLElement | null): void => place?.querySelector('input')?.focus()

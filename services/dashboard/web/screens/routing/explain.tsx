// "What would happen for this recipient?" In: a recipient, and the kind of key that would send. Out: the channel and the provider of a
// send, and for every other channel why not. It explains the saved routing.
import { useEffect, useState } from 'preact/hooks'
import { linkToScreen } from '../../../screens.ts'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { CHANNEL_NAMES } from '../../data/channels.ts'
import { useMay } from '../../data/session.tsx'
import { useApp } from '../../data/tenant.tsx'
import { useQuery } from '../../data/use-query.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import {
  byPlace,
  orderWords,
  providerWords,
  type RoutePreview,
  recipientOf,
  type Sender,
  sendOutcome,
  verdictOf,
} from './route-words.ts'

type KeyOf = 'live server' | 'live publishable' | 'test server' | 'test publishable'

const KEYS: readonly { value: KeyOf; label: string }[] = [
  { value: 'live server', label: 'Live server key' },
  { value: 'live publishable', label: 'Live publishable key' },
  { value: 'test server', label: 'Test server key' },
  { value: 'test publishable', label: 'Test publishable key' },
]

interface Asked {
  recipient: string
  key: KeyOf
}

export interface ExplainProps {
  providers: readonly Schemas['Provider'][]
  hasUnsavedChanges: boolean
}

export function Explain({ providers, hasUnsavedChanges }: ExplainProps) {
  const app = useApp()
  const [typed, setTyped] = useState('')
  // Nothing is sent. A test key always finds the sandbox, so the answer for a live key is the one in doubt; it is the API's default, too.
  const [key, setKey] = useState<KeyOf>('live server')
  const [asked, setAsked] = useState<Asked | null>(null)
  const sender = asked && senderOf(asked.key, app.settings.publishable_send)
  const route = useQuery(asked && `route ${app.id} ${asked.key} ${asked.recipient}`, () =>
    bodyOf(
      api.POST('/admin/v1/apps/{id}/route', {
        params: { path: { id: app.id } },
        body: { recipient: asked?.recipient ?? '', mode: sender?.mode ?? 'live', kind: sender?.kind ?? 'server' },
      }),
    ),
  )
  // What was saved may change the answer.
  useEffect(() => void route.reload(), [app.settings])

  return (
    <Card
      title="What would happen?"
      lead="Which channel a send to this recipient would take now, and why. Nothing is sent."
    >
      <form
        class="form inline"
        noValidate
        onSubmit={event => {
          event.preventDefault()
          const recipient = recipientOf(typed)
          if (asked?.recipient === recipient && asked.key === key) void route.reload()
          setAsked({ recipient, key })
        }}
      >
        <TextField
          label="Recipient"
          value={typed}
          onInput={setTyped}
          placeholder="+5511987654321 or a@example.com"
          inputMode="text"
        />
        <Select label="Sent with" value={key} options={KEYS} onChange={chosen => setKey(chosen)} />
        <Button type="submit" look="primary" busy={route.loading && asked !== null}>
          Explain
        </Button>
      </form>
      {hasUnsavedChanges && asked !== null && (
        <Notice tone="warning">This explains the saved routing. Your unsaved changes are not in it yet.</Notice>
      )}
      {route.problem && <ProblemNotice problem={route.problem} />}
      <div role="status">
        {route.data && sender && <Answer preview={route.data} sender={sender} providers={providers} />}
      </div>
    </Card>
  )
}

/** What an operator can do on the Providers screen. */
const PROVIDER_REMEDIES: Partial<Record<Schemas['ChannelReason'], string>> = {
  no_provider: 'Add a provider',
  provider_paused: 'Resume it',
  country: 'See who serves which country',
}

const senderOf = (key: KeyOf, publishableSend: boolean): Sender => {
  const [mode, kind] = key.split(' ') as [Sender['mode'], Sender['kind']]
  return { mode, kind, publishableSend }
}

const usualOf = ({ channel, channels }: RoutePreview): string | null =>
  channels.find(choice => choice.channel === channel)?.provider ?? null

interface AnswerProps extends Pick<ExplainProps, 'providers'> {
  preview: RoutePreview
  sender: Sender
}

function Answer({ preview, sender, providers }: AnswerProps) {
  const { settings } = useApp()
  const mayAdd = useMay('developer')
  const mayNotSend = sender.kind === 'publishable' && sender.mode === 'live' && !sender.publishableSend
  const isRefused = preview.channel === null || mayNotSend
  const order = orderWords(preview, Object.keys(settings.routing.countries))
  return (
    <div class="routing-answer">
      <div class={isRefused ? 'routing-outcome refused' : 'routing-outcome'}>
        <p>
          {sendOutcome(preview, sender)}{' '}
          {mayNotSend && <ScreenLink to="/settings">{linkToScreen('/settings')}</ScreenLink>}
        </p>
        {!isRefused && preview.channel && (
          <p>
            Provider: <b>{providerWords(preview.channel, sender, preview.country, providers, usualOf(preview))}</b>
          </p>
        )}
      </div>
      {order && <p>{order}</p>}
      {preview.channels.length > 0 && (
        <dl class="routing-verdicts">
          {byPlace(preview.channels).map(choice => (
            <div key={choice.channel} class={choice.channel === preview.channel ? 'chosen' : undefined}>
              <dt>
                <span class="routing-place">{choice.place ?? '–'}</span>
                {CHANNEL_NAMES[choice.channel]}
              </dt>
              <dd>
                {verdictOf(choice, preview)}{' '}
                {choice.channel === preview.channel && !isRefused && <Badge tone="good">used</Badge>}
                {choice.obstacle && mayAdd && PROVIDER_REMEDIES[choice.obstacle] && (
                  <ScreenLink to="/providers">{PROVIDER_REMEDIES[choice.obstacle]}</ScreenLink>
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {!isRefused && (
        <p class="hint">Limits, the fraud guard, the balance and the client’s address may still refuse a send.</p>
      )}
    </div>
  )
}

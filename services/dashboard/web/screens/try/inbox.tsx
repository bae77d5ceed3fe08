// The sandbox's inbox for one verification, as the person would see it on a phone: messages with their codes, and, in the link modes of
// WhatsApp, the link that opens a chat, whose message can be played here.
import { useState } from 'preact/hooks'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { CHANNEL_NAMES } from '../../data/channels.ts'
import { useApp } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { Status } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { type Progress, textInLink } from './progress.ts'

export interface InboxProps {
  /** Null before a send, and after a refused one. */
  recipient: string | null
  refused: boolean
  actionUrl: string | null
  progress: Progress | undefined
  onUseCode(code: string): void
  /** After the user's message was played. */
  onPlayed(): void
}

export function Inbox({ recipient, refused, actionUrl, progress, onUseCode, onPlayed }: InboxProps) {
  if (recipient === null)
    return (
      <Empty title="No messages yet.">
        {refused
          ? 'The send was refused, so nothing arrives.'
          : 'Press “Send code”, and the message arrives here instead of on a phone.'}
      </Empty>
    )
  const messages = progress?.messages ?? []
  return (
    <div class="try-phone" aria-busy={messages.length === 0}>
      <p class="try-phone-owner">{recipient}</p>
      {messages.map((message, index) => (
        <Message
          key={message.delivery_id}
          message={message}
          delivery={progress?.verification.deliveries.find(({ delivery_id }) => delivery_id === message.delivery_id)}
          latest={index === 0}
          onUseCode={onUseCode}
        />
      ))}
      {actionUrl !== null && (
        <ChatLink url={actionUrl} recipient={recipient} ended={isOver(progress)} onPlayed={onPlayed} />
      )}
      {messages.length === 0 && actionUrl === null && <p class="soft">Waiting for the message…</p>}
    </div>
  )
}

const isOver = (progress: Progress | undefined): boolean =>
  progress !== undefined && progress.verification.status !== 'pending'

interface MessageProps {
  message: Schemas['SandboxMessage']
  delivery: Schemas['DeliveryRecord'] | undefined
  /** Only the latest code is sure to count. */
  latest: boolean
  onUseCode(code: string): void
}

function Message({ message: { channel, at, text, code }, delivery, latest, onUseCode }: MessageProps) {
  return (
    <article class="try-message">
      <header>
        <strong>{CHANNEL_NAMES[channel]}</strong>
        <span class="soft">
          <Time at={at} />
        </span>
      </header>
      <p class="try-bubble">{text}</p>
      <footer>
        {/* A request for a number has no code. */}
        {code !== '' && <span class="try-digits monospace">{code}</span>}
        {latest && code !== '' && <Button onClick={() => onUseCode(code)}>Use this code</Button>}
        {delivery && (
          <span class="try-receipt">
            <Status of={delivery.status} />
            {delivery.reason && <span class="soft">{delivery.reason.replaceAll('_', ' ')}</span>}
          </span>
        )}
      </footer>
    </article>
  )
}

interface ChatLinkProps {
  url: string
  recipient: string
  ended: boolean
  onPlayed(): void
}

function ChatLink({ url, recipient, ended, onPlayed }: ChatLinkProps) {
  const app = useApp()
  const change = useChange()
  const [played, setPlayed] = useState<string | null>(null)
  const text = textInLink(url)
  const play = () =>
    change.run(async () => {
      await bodyOf(api.POST('/admin/v1/sandbox/inbound', { body: { app_id: app.id, from: recipient, text } }))
      setPlayed(url)
      onPlayed()
    })
  return (
    <article class="try-message">
      <header>
        <strong>Link into WhatsApp</strong>
      </header>
      <p>
        Your page shows <code>action_url</code>. It opens a chat with this message, which the person sends:
      </p>
      <p class="try-bubble own">{text}</p>
      <p class="try-link">
        <a href={url} target="_blank" rel="noreferrer">
          {url}
        </a>
      </p>
      {change.problem && <ProblemNotice problem={change.problem} />}
      <footer>
        <Button busy={change.busy} disabled={ended} onClick={play}>
          Play this message
        </Button>
        {played === url && <span class="soft">It was played: as if {recipient} had sent it.</span>}
      </footer>
    </article>
  )
}

// The sandbox's messages to any recipient: those that a backend sent with a test key, and the codes with which users
// sign in to the dashboard of a deployment without an email provider.

import { useState } from 'preact/hooks'
import { SAMPLE_NUMBER } from '../../../../../machines/sample-number.ts'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { CHANNEL_NAMES } from '../../data/channels.ts'
import { useChange } from '../../data/use-change.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Empty } from '../../ui/empty.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

type Message = Schemas['SandboxMessage']

export function SandboxSearch() {
  const [to, setTo] = useState('')
  const [messages, setMessages] = useState<Message[] | null>(null)
  const change = useChange()
  const read = () =>
    change.run(async () => {
      const query = to.trim() === '' ? {} : { recipient: to.trim() }
      setMessages(await bodyOf(api.GET('/admin/v1/sandbox/messages', { params: { query } })))
    })
  return (
    <Card
      title="Sandbox messages"
      lead="What test keys sent, to anyone: also your backend's messages, and sign-in codes while no email provider is set."
    >
      <Form inline change={change} onSubmit={read} label="Sandbox messages">
        <TextField
          label="Messages to"
          placeholder={`${SAMPLE_NUMBER} or ada@example.com`}
          value={to}
          onInput={setTo}
          error={change.errorOf('recipient')}
        />
        <Button type="submit" busy={change.busy}>
          Show messages
        </Button>
      </Form>
      {messages !== null &&
        (messages.length === 0 ? (
          <Empty title="There are no messages.">
            The sandbox keeps what test keys send, for as long as its verification is kept.
          </Empty>
        ) : (
          <Table
            caption="Messages in the sandbox"
            rows={messages}
            keyOf={message => message.delivery_id}
            columns={[
              { name: 'When', show: message => <Time at={message.at} /> },
              { name: 'To', show: message => message.recipient },
              { name: 'Channel', show: message => CHANNEL_NAMES[message.channel] },
              { name: 'Digits', show: message => <code>{message.code}</code> },
              { name: 'Text', show: message => message.text },
            ]}
          />
        ))}
    </Card>
  )
}

// The calls of the client API that were made, newest first: each request as a developer writes it, and its answer. The
// key is hidden until it is asked for; a copy has it, so that it works. Before the first call the request that would be
// made is shown.
import { useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import type { ApiRequest } from './api-request.ts'
import type { Call } from './call-api.ts'
import { hideKey, LANGUAGES, type Language, sampleOf } from './samples.ts'

export interface CallsProps {
  calls: readonly Call[]
  /** The request that the next send would make. Its key does not exist yet. */
  next: ApiRequest
}

export function Calls({ calls, next }: CallsProps) {
  const [language, setLanguage] = useState<Language>('curl')
  const [keyShown, showKey] = useState(false)
  const sampleFor = (request: ApiRequest) => sampleOf(language, location.origin, request)
  const [latest, ...earlier] = calls
  const shown = (call: Call) => (
    <CallView
      call={call}
      text={sampleFor(keyShown ? call.request : hideKey(call.request))}
      copied={sampleFor(call.request)}
    />
  )
  return (
    <Card
      title="Request"
      actions={
        <>
          <div class="try-languages">
            {LANGUAGES.map(one => (
              <Button key={one} look="quiet" aria-pressed={one === language} onClick={() => setLanguage(one)}>
                {one}
              </Button>
            ))}
          </div>
          <Button look="quiet" aria-pressed={keyShown} disabled={!latest} onClick={() => showKey(!keyShown)}>
            Show key
          </Button>
        </>
      }
    >
      {latest ? shown(latest) : <CodeBlock label={captionOf(next)} text={sampleFor(next)} copied={null} />}
      {earlier.map((call, index) => (
        // The list grows at its beginning.
        <details key={earlier.length - index} class="try-earlier">
          <summary>
            {captionOf(call.request)} <StatusCode of={call} />
          </summary>
          {shown(call)}
        </details>
      ))}
    </Card>
  )
}

const captionOf = ({ method, path }: ApiRequest): string => `${method} ${path}`

const StatusCode = ({ of }: { of: Call }) => <Badge tone={of.status < 400 ? 'good' : 'bad'}>{of.status}</Badge>

function CallView({ call, text, copied }: { call: Call; text: string; copied: string }) {
  return (
    <div class="try-call">
      <CodeBlock label={captionOf(call.request)} text={text} copied={copied} />
      <CodeBlock
        label={
          <>
            Answer <StatusCode of={call} /> in {call.ms} ms
          </>
        }
        text={JSON.stringify(call.body, null, 2)}
      />
    </div>
  )
}

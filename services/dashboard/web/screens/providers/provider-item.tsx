// One provider in the list of its channel: its state, what it sends as, and what can be done with it.
import { useId } from 'preact/hooks'
import { declarationOf, fieldsOf } from '../../../../domain/tenancy/provider-types/list.ts'
import { valueAt } from '../../data/settings-patch.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Fact } from '../../ui/fact.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { CallbackAddress } from './callback-address.tsx'
import { isKnown, type Provider } from './provider-calls.ts'
import type { Step } from './provider-order.ts'
import { breakerWords, PAUSED_WORDS, servedWords, UNKNOWN_TYPE_WORDS } from './provider-words.ts'

export interface ProviderItemProps {
  provider: Provider
  appId: string
  /** No other provider of the channel sends. */
  alone: boolean
  /** What the viewer may do; null for one who may only look. */
  actions: {
    /** Null at the end of the list, and where the order cannot be saved. */
    up: (() => void) | null
    down: (() => void) | null
    test(): void
    pause(): void
    resume(): void
    edit(): void
    remove(): void
  } | null
}

/** The id of a button that moves a provider, to put the focus on it. */
export const moveButtonId = (name: string, step: Step): string => `providers-${step}-${name}`

export function ProviderItem({ provider, appId, alone, actions }: ProviderItemProps) {
  const { name, type, config, breaker, paused, countries } = provider
  const isUnknown = !isKnown(provider)
  const words = isUnknown ? UNKNOWN_TYPE_WORDS : paused ? PAUSED_WORDS : breakerWords(breaker, type, alone)
  const sender = senderOf(provider)
  const nameId = useId()
  return (
    <li class="providers-item">
      {actions && (actions.up !== null || actions.down !== null) && (
        <div class="providers-order">
          <Button
            look="quiet"
            id={moveButtonId(name, 'up')}
            aria-label="Move up"
            aria-describedby={nameId}
            disabled={actions.up === null}
            onClick={() => actions.up?.()}
          >
            ↑
          </Button>
          <Button
            look="quiet"
            id={moveButtonId(name, 'down')}
            aria-label="Move down"
            aria-describedby={nameId}
            disabled={actions.down === null}
            onClick={() => actions.down?.()}
          >
            ↓
          </Button>
        </div>
      )}
      <div class="providers-main">
        <div class="providers-title">
          <h3 id={nameId}>{name}</h3>
          <Badge tone={words.tone}>{words.state}</Badge>
          {words.showsSince && breaker && (
            <span class="soft">
              since <Time at={breaker.since} />
            </span>
          )}
        </div>
        <p class="soft">
          {isUnknown ? type : declarationOf(type).label}
          {sender && (
            <>
              {' · '}
              <span class="providers-sender">{sender}</span>
            </>
          )}
        </p>
        {countries && <p>{servedWords(countries)}</p>}
        {words.explanation && <p class="hint">{words.explanation}</p>}
        {isUnknown && (
          <Notice tone="warning">
            This release of Countersign does not know its type: a newer one stored it. It sends nothing until a release
            that knows it runs again.
          </Notice>
        )}
        {!isUnknown && config === null && (
          <Notice tone="warning">
            Its settings cannot be read: their data key is no longer configured. It sends nothing until they are entered
            again.
          </Notice>
        )}
        {config !== null && fieldsOf(type).length > 0 && (
          <details class="more">
            <summary>Settings</summary>
            <Settings provider={provider} />
            <CallbackAddress type={type} appId={appId} name={name} />
          </details>
        )}
      </div>
      {actions && (
        <div class="providers-actions">
          {!isUnknown && (
            <>
              <Button aria-describedby={nameId} onClick={actions.test}>
                Test
              </Button>
              <Button look="quiet" aria-describedby={nameId} onClick={paused ? actions.resume : actions.pause}>
                {paused ? 'Resume' : 'Pause'}
              </Button>
              <Button look="quiet" aria-describedby={nameId} onClick={actions.edit}>
                Edit
              </Button>
            </>
          )}
          <Button look="quiet danger" aria-describedby={nameId} onClick={actions.remove}>
            Delete
          </Button>
        </div>
      )}
    </li>
  )
}

function Settings({ provider: { type, config } }: { provider: Provider }) {
  return (
    <dl class="providers-values">
      {fieldsOf(type).map(({ path, label, secret }) => {
        const lines = linesOf(valueAt(config, path))
        if (lines.length === 0) return null
        return (
          <Fact key={path} name={secret ? `${label} (fingerprint)` : label}>
            {lines.map(line => (
              <div key={line}>
                <code>{line}</code>
              </div>
            ))}
          </Fact>
        )
      })}
    </dl>
  )
}

/** A line for each member of an object; none where there is no value. */
function linesOf(value: unknown): string[] {
  if (value === null || value === undefined) return []
  if (typeof value !== 'object' || Array.isArray(value))
    return [typeof value === 'string' ? value : JSON.stringify(value)]
  return Object.entries(value).map(
    ([name, member]) => `${name}: ${typeof member === 'string' ? member : JSON.stringify(member)}`,
  )
}

/** What tells two providers of one type apart. */
function senderOf({ config }: Provider): string | null {
  for (const member of ['from', 'messaging_service_sid', 'url', 'phone_number_id'])
    if (typeof config?.[member] === 'string') return config[member]
  return null
}

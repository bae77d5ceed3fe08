// The limits of the app: for each what it counts, and its rules "at most so many in so long". All rules of a limit hold.
import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'
import type { Schemas } from '../../api/client.ts'
import { duration } from '../../data/duration.ts'
import { percent, wholeNumber } from '../../data/notation.ts'
import type { Drafted } from '../../data/settings-patch.ts'
import type { SettingsDraft } from '../../data/use-settings-draft.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Editable } from '../../ui/editable.tsx'
import { TypedField } from '../../ui/typed-field.tsx'

type Limits = Schemas['LimitSettings']
type RuleList = Exclude<keyof Limits, 'client_ip_reputation_factor'>
type Rule = Drafted<Schemas['LimitRule']>

interface LimitWords {
  name: RuleList
  title: string
  /** What it limits, in a sentence or two. */
  meaning: string
}

const LIMITS: readonly LimitWords[] = [
  {
    name: 'recipient',
    title: 'Sends to one recipient',
    meaning: 'How many verifications one number or address can begin. Server and publishable keys are counted apart.',
  },
  {
    name: 'recipient_messages',
    title: 'Messages to one recipient',
    meaning: 'All messages to one number or address, resends included.',
  },
  {
    name: 'recipient_verify',
    title: 'Wrong codes for one recipient',
    meaning:
      'Over all verifications of a number or address. At the limit it is locked for the time of the rule; only first codes of verifications are still looked at, until as many of them were wrong. At least one rule is needed.',
  },
  {
    name: 'client_ip',
    title: 'Sends from one client address',
    meaning:
      'Resends count too. An IPv6 address counts for its /64; its /56 may have 4 times as many, its /48 16 times, its /40 64 times.',
  },
  {
    name: 'app_without_client_ip',
    title: 'Sends without a client address',
    meaning:
      'Shared by the whole app, for sends that do not say which address the user has. Give client_ip, or raise this.',
  },
  {
    name: 'app',
    title: 'Sends of the whole app',
    meaning: 'By server keys, with a client address, and all their resends.',
  },
  {
    name: 'app_publishable',
    title: 'Sends by devices',
    meaning: 'By publishable keys, resends included. A flood by devices does not stop your servers.',
  },
]

/** A new rule, to be edited. */
const NEW_RULE: Rule = { max: 100, seconds: 86_400 }

export function RulesCard({ draft, may }: { draft: SettingsDraft; may: boolean }) {
  const { limits } = draft.settings
  const set = (changed: Partial<typeof limits>): void => draft.set('limits', { ...limits, ...changed })
  return (
    <Card
      title="Limits"
      lead="A send beyond a limit is answered with 429, and says when to try again. All rules of a limit hold. Live and test are counted apart."
    >
      <Editable may={may}>
        <div class="limits-rules">
          {LIMITS.map(words => (
            <LimitRules
              key={words.name}
              {...words}
              rules={limits[words.name]}
              onChange={rules => set({ [words.name]: rules })}
              draft={draft}
            >
              {words.name === 'client_ip' && (
                <TypedField
                  label="Share for suspicious addresses (%)"
                  hint="What is left of this limit for VPNs, proxies, Tor and datacenters."
                  inputMode="numeric"
                  notation={percent}
                  value={limits.client_ip_reputation_factor}
                  onInput={share => set({ client_ip_reputation_factor: share })}
                  error={draft.errorOf('limits.client_ip_reputation_factor')}
                  refusal="Must be a number from 0 to 100."
                />
              )}
            </LimitRules>
          ))}
        </div>
      </Editable>
    </Card>
  )
}

interface LimitRulesProps extends LimitWords {
  rules: readonly Rule[]
  onChange(rules: Rule[]): void
  draft: SettingsDraft
  children?: ComponentChildren
}

function LimitRules({ name, title, meaning, rules, onChange, draft, children }: LimitRulesProps) {
  const id = useId()
  const frame = useRef<HTMLFieldSetElement>(null)
  const path = `limits.${name}`
  const error = draft.errorOf(path)
  const replace = (at: number, rule: Rule): void => onChange(rules.map((old, nth) => (nth === at ? rule : old)))
  function remove(at: number): void {
    onChange(rules.filter((_, nth) => nth !== at))
    // The button that had the focus is gone.
    frame.current?.querySelector<HTMLElement>('[data-add]')?.focus()
  }
  return (
    <fieldset ref={frame} class="limits-limit" aria-describedby={`${id}-meaning`}>
      <legend>{title}</legend>
      <p class="hint" id={`${id}-meaning`}>
        {meaning}
      </p>
      {rules.map((rule, at) => (
        <div key={at} class="limits-rule">
          <TypedField
            label="At most"
            inputMode="numeric"
            notation={wholeNumber}
            value={rule.max}
            onInput={max => replace(at, { ...rule, max })}
            error={draft.errorOf(`${path}.${at}.max`)}
            refusal="Must be a whole number from 1 on."
          />
          <TypedField
            label="in"
            notation={duration}
            value={rule.seconds}
            onInput={seconds => replace(at, { ...rule, seconds })}
            error={draft.errorOf(`${path}.${at}.seconds`)}
            refusal="Must be from 1 second to 7 days, such as “10 minutes”."
          />
          <Button look="quiet" aria-label="Remove rule" title="Remove rule" onClick={() => remove(at)}>
            ✕
          </Button>
        </div>
      ))}
      {rules.length === 0 && <p>No limit.</p>}
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      <div>
        <Button look="quiet" data-add onClick={() => onChange([...rules, NEW_RULE])}>
          Add rule
        </Button>
      </div>
      {children}
    </fieldset>
  )
}

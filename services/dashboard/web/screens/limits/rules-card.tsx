// The limits of the app: for each what it counts, and its rules "at most so many in so long". All rules of a limit hold.
import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'
import type { SettingPath } from '../../../../domain/tenancy/setting-list.ts'
import { RULE_SECONDS, SETTING_FIELDS } from '../../../apps/settings.data.ts'
import type { Schemas } from '../../api/client.ts'
import { duration } from '../../data/duration.ts'
import { wholeNumber } from '../../data/notation.ts'
import { hintOf, labelOf, spanRefusal } from '../../data/setting-words.ts'
import { type Drafted, valueAt } from '../../data/settings-patch.ts'
import type { SettingsDraft } from '../../data/use-settings-draft.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Editable } from '../../ui/editable.tsx'
import { SettingField } from '../../ui/setting-field.tsx'
import { TypedField } from '../../ui/typed-field.tsx'

type Rule = Drafted<Schemas['LimitRule']>
type LimitPath = Exclude<Extract<SettingPath, `limits.${string}`>, 'limits.client_ip_reputation_factor'>

const LIMITS = Object.keys(SETTING_FIELDS).filter(path => SETTING_FIELDS[path as SettingPath].kind === 'rules')

/** A new rule, to be edited. */
const NEW_RULE: Rule = { max: 100, seconds: 86_400 }

export const RulesCard = ({ draft }: { draft: SettingsDraft }) => (
  <Card
    title="Limits"
    lead="A send beyond a limit is answered with 429, and says when to try again. All rules of a limit hold. Live and test are counted separately."
  >
    <Editable>
      <div class="limits-rules">
        {LIMITS.map(path => (
          <LimitRules key={path} path={path as LimitPath} draft={draft}>
            {path === 'limits.client_ip' && <SettingField draft={draft} path="limits.client_ip_reputation_factor" />}
          </LimitRules>
        ))}
      </div>
    </Editable>
  </Card>
)

interface LimitRulesProps {
  path: LimitPath
  draft: SettingsDraft
  children: ComponentChildren
}

function LimitRules({ path, draft, children }: LimitRulesProps) {
  const id = useId()
  const frame = useRef<HTMLFieldSetElement>(null)
  const error = draft.errorOf(path)
  const rules = valueAt(draft.settings, path) as Rule[]
  const onChange = (changed: Rule[]): void => draft.set(path, changed)
  const replace = (at: number, rule: Rule): void => onChange(rules.map((old, nth) => (nth === at ? rule : old)))
  function remove(at: number): void {
    onChange(rules.filter((_, nth) => nth !== at))
    // The button that had the focus is gone.
    frame.current?.querySelector<HTMLElement>('[data-add]')?.focus()
  }
  return (
    <fieldset ref={frame} class="limits-limit" aria-describedby={`${id}-meaning`}>
      <legend>{labelOf(path)}</legend>
      <p class="hint" id={`${id}-meaning`}>
        {hintOf(path)}
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
            refusal="Must be a whole number, 1 or more."
          />
          <TypedField
            label="in"
            notation={duration}
            value={rule.seconds}
            onInput={seconds => replace(at, { ...rule, seconds })}
            error={draft.errorOf(`${path}.${at}.seconds`)}
            refusal={spanRefusal(RULE_SECONDS, 600)}
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

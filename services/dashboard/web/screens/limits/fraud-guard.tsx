// The guard against SMS pumping: whether it refuses or only records, and what it does about a suspicious message. Unlike the rest of the
// screen its switches take effect at once: turning it on asks first, and shows what it would have refused.
import { useState } from 'preact/hooks'
import { SETTING_FIELDS } from '../../../apps/settings.data.ts'
import type { Schemas } from '../../api/client.ts'
import { choicesOf, labelOf } from '../../data/setting-words.ts'
import { useApp, usePatchSettings } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { Editable } from '../../ui/editable.tsx'
import { Switch } from '../../ui/field.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { RadioGroup } from '../../ui/radio-group.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { TurnOnGuard } from './turn-on-guard.tsx'

type Guard = Schemas['FraudGuardSettings']

export function FraudGuard() {
  const app = useApp()
  const patch = usePatchSettings()
  const { mode, action } = app.settings.fraud_guard
  const [asking, setAsking] = useState(false)
  const change = useChange()
  const say = useToast()

  async function apply(fraud_guard: Partial<Guard>, sentence: string): Promise<void> {
    if (await change.run(() => patch({ fraud_guard }))) say(`${sentence} Every process knows within 5 seconds.`)
  }

  return (
    <Card
      title="Fraud guard"
      lead="In SMS pumping an attacker earns money from messages that your app is made to send. The guard counts messages that are not verified: of a number, of ranges and countries, and of all that your devices send."
      actions={mode === 'on' ? <Badge tone="good">Refusing</Badge> : <Badge tone="warning">Not refusing</Badge>}
    >
      <Editable>
        <div class="limits-guard">
          <div class="limits-part">
            <Switch
              label={labelOf('fraud_guard.mode')}
              hint={SETTING_FIELDS['fraud_guard.mode'].choices[mode]?.hint}
              checked={mode === 'on'}
              busy={change.busy}
              onChange={on => {
                if (on) setAsking(true)
                else void apply({ mode: 'record' }, 'The fraud guard refuses nothing and keeps recording.')
              }}
            />
            <Switch
              label="Record what it would refuse"
              hint={
                mode === 'on'
                  ? 'While the guard refuses it records too.'
                  : 'Leave this on where codes are verified here. An app that only sends codes and verifies them elsewhere should turn it off.'
              }
              checked={mode !== 'off'}
              disabled={mode === 'on'}
              busy={change.busy}
              onChange={on =>
                apply(
                  { mode: on ? 'record' : 'off' },
                  on ? 'The fraud guard records.' : 'The fraud guard is off, and records nothing.',
                )
              }
            />
          </div>
          <RadioGroup
            label={labelOf('fraud_guard.action')}
            value={action}
            options={choicesOf('fraud_guard.action')}
            busy={change.busy}
            onChange={chosen =>
              apply(
                { action: chosen },
                chosen === 'refuse'
                  ? 'Suspicious messages are refused.'
                  : 'Suspicious messages move to a free channel.',
              )
            }
          />
        </div>
      </Editable>
      <p class="hint">These switches take effect at once, without saving.</p>
      {change.problem && <ProblemNotice problem={change.problem} />}
      {asking && (
        <TurnOnGuard
          turnOn={async () => {
            await patch({ fraud_guard: { mode: 'on' } })
            say('The fraud guard refuses. Every process knows within 5 seconds.')
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </Card>
  )
}

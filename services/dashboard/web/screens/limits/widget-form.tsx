// What a device solves: a proof of work, or the widget of a vendor. Saved by itself, and kept out of the screen's
// draft, which this tab stores: the secret must not be in it.
import { useState } from 'preact/hooks'
import type { SettingPath } from '../../../../domain/tenancy/setting-list.ts'
import type { Schemas } from '../../api/client.ts'
import { choicesOf, hintOf, labelOf } from '../../data/setting-words.ts'
import { useApp, usePatchSettings } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { asSentence } from '../../data/value-words.ts'
import { Button } from '../../ui/button.tsx'
import { Editable } from '../../ui/editable.tsx'
import { TextField } from '../../ui/field.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { RadioGroup } from '../../ui/radio-group.tsx'
import { useToast } from '../../ui/toasts.tsx'

type Widget = Schemas['ChallengeSettings']

export function WidgetForm() {
  const stored = useApp().settings.challenge
  const patch = usePatchSettings()
  const change = useChange()
  const say = useToast()
  const [by, setBy] = useState<Widget['by']>(stored.by)
  const [siteKey, setSiteKey] = useState(stored.site_key ?? '')
  const [secret, setSecret] = useState('')
  const [verifyUrl, setVerifyUrl] = useState(stored.verify_url ?? '')

  async function save(event: Event): Promise<void> {
    event.preventDefault()
    const keys = {
      site_key: siteKey.trim() || null,
      verify_url: verifyUrl.trim() || null,
      ...(secret === '' ? {} : { secret: secret.trim() }),
    }
    const isMade = await change.run(() => patch({ challenge: by === 'pow' ? { by } : { by, ...keys } }))
    if (!isMade) return
    setSecret('')
    say('Saved. Every process uses it within 5 seconds.')
  }

  const fields = change.problem?.fields ?? new Map<string, string>()
  const fieldOf = (path: SettingPath) => {
    const refused = fields.get(`settings.${path}`)
    return { label: labelOf(path), hint: hintOf(path), error: refused && asSentence(refused) }
  }
  const keptSecret =
    stored.secret === null ? (
      hintOf('challenge.secret')
    ) : (
      <>
        Keep it as it is by leaving this empty. Its fingerprint: <code>{stored.secret}</code>
      </>
    )
  return (
    <Editable>
      <form onSubmit={save}>
        <RadioGroup
          label={labelOf('challenge.by')}
          value={by}
          options={choicesOf('challenge.by')}
          onChange={one => setBy(one as Widget['by'])}
        />
        {by !== 'pow' && (
          <>
            <TextField {...fieldOf('challenge.site_key')} value={siteKey} onInput={setSiteKey} monospace />
            <TextField
              {...fieldOf('challenge.secret')}
              hint={keptSecret}
              value={secret}
              onInput={setSecret}
              // A browser must not offer the viewer's own password here.
              type="password"
              autocomplete="new-password"
              placeholder={stored.secret === null ? '' : 'Unchanged'}
              monospace
            />
            <TextField
              {...fieldOf('challenge.verify_url')}
              value={verifyUrl}
              onInput={setVerifyUrl}
              type="url"
              placeholder="The vendor’s own"
              monospace
            />
          </>
        )}
        {change.problem && <ProblemNotice problem={change.problem} />}
        <div class="actions">
          <Button type="submit" busy={change.busy}>
            Save what devices solve
          </Button>
        </div>
      </form>
    </Editable>
  )
}

// Whether a device must solve a challenge before it sends. Like the guard's switches, the choice takes effect at once.
import type { Schemas } from '../../api/client.ts'
import { choicesOf, labelOf } from '../../data/setting-words.ts'
import { useApp, usePatchSettings } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { Card } from '../../ui/card.tsx'
import { Editable } from '../../ui/editable.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { RadioGroup } from '../../ui/radio-group.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { WidgetForm } from './widget-form.tsx'

type When = Schemas['PublishableChallenge']

const SENTENCES: Readonly<Record<When, string>> = {
  off: 'Devices solve no challenges.',
  risk: 'Devices solve a challenge when a send looks risky.',
  always: 'Devices solve a challenge before every send.',
}

export function ChallengeCard() {
  const app = useApp()
  const patch = usePatchSettings()
  const change = useChange()
  const say = useToast()

  async function choose(publishable_challenge: When): Promise<void> {
    const isMade = await change.run(() => patch({ publishable_challenge }))
    if (isMade) say(`${SENTENCES[publishable_challenge]} Every process knows within 5 seconds.`)
  }

  return (
    <Card
      title="Challenges"
      lead="A device can be made to solve something before it sends: to compute for a moment, which slows a program down, or the widget of a vendor, which tells people from programs. Your pages and apps must solve the challenges: the API reference shows how."
    >
      <Editable>
        <RadioGroup
          label={labelOf('publishable_challenge')}
          value={app.settings.publishable_challenge}
          options={choicesOf('publishable_challenge')}
          busy={change.busy}
          onChange={choose}
        />
      </Editable>
      {change.problem && <ProblemNotice problem={change.problem} />}
      <WidgetForm key={app.id} />
    </Card>
  )
}

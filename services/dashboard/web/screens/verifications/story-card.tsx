// The answer to "why did the code not arrive?", before everything else.
import { linkToScreen } from '../../../screens.ts'
import { useMe } from '../../data/session.tsx'
import { useTenant } from '../../data/tenant.tsx'
import type { History, Remedy } from './delivery-words.ts'
import { type Story, tellStory } from './story.ts'

const TONES: Readonly<Record<Story['arrival'], string>> = {
  arrived: 'good',
  'under way': 'info',
  unknown: 'warning',
  'not arrived': 'bad',
}

export function StoryCard({ history }: { history: History }) {
  const { arrival, verdict, reason, more, remedies } = tellStory(history, Date.now())
  return (
    <section class={`verification-story ${TONES[arrival]}`} aria-label="Why">
      <p class="verification-verdict">{verdict}</p>
      <p class="verification-reason">{reason}</p>
      {more.length > 0 && (
        <ul>
          {more.map(sentence => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      {remedies.length > 0 && <Remedies history={history} remedies={remedies} />}
    </section>
  )
}

function Remedies({ history, remedies }: { history: History; remedies: readonly Remedy[] }) {
  const { role } = useMe()
  const { company, app, chooseCompany, chooseApp } = useTenant()
  /** The screens are about the chosen app, which may be another one than this verification's. */
  function choose(): void {
    if (company?.id !== history.company_id) chooseCompany(history.company_id)
    if (app?.id !== history.app_id) chooseApp(history.app_id)
  }
  return (
    <div class="verification-remedies">
      <p>
        <strong>What to do</strong>
      </p>
      <ul>
        {remedies.map(({ says, screen }) => (
          <li key={says}>
            {says}{' '}
            {screen && (screen !== '/queues' || role === 'operator') && (
              <a href={screen} onClick={choose}>
                {linkToScreen(screen)}
              </a>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

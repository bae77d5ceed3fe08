// The answer to "why did the code not arrive?", before everything else.
import { linkToScreen } from '../../../screens.ts'
import { useMe } from '../../data/session.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
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
              <ScreenLink to={screen} ofApp={history.app_id}>
                {linkToScreen(screen)}
              </ScreenLink>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

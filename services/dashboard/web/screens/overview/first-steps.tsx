// An app that has sent nothing yet: what to do first.
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'

const STEPS = [
  {
    title: 'Send a code',
    text: 'Enter a number, read the code in the inbox beside it, and verify it. No provider and no money needed.',
    link: 'Send your first code',
    href: '/try',
  },
  {
    title: 'Add a provider',
    text: 'An account with a vendor of SMS, WhatsApp, Telegram or email, your mail server or any HTTP API, for sends to real people.',
    link: 'Connect a vendor',
    href: '/providers',
  },
  {
    title: 'Set the webhook',
    text: 'Your server is told of every approval and of every delivery that failed, in signed calls.',
    link: 'Enter your endpoint',
    href: '/api-keys',
  },
] as const

export function FirstSteps({ appName }: { appName: string }) {
  const mayTakeThem = useMay('developer')
  if (!mayTakeThem)
    return (
      <Empty title={`${appName} has not sent a code yet.`}>
        This page fills up as soon as the first code is sent. {onlyRole('developer', 'set the app up')}
      </Empty>
    )
  return (
    <section class="overview-first" aria-labelledby="first-steps">
      <h2 id="first-steps">{appName} has not sent a code yet</h2>
      <p class="soft">Three steps, in any order. This page fills up as soon as the first code is sent.</p>
      <ol class="overview-steps">
        {STEPS.map(({ title, text, link, href }, nth) => (
          <li key={href} class="card">
            <h3>
              <span class="overview-step" aria-hidden="true">
                {nth + 1}
              </span>
              {title}
            </h3>
            <p class="soft">{text}</p>
            <ScreenLink class={nth === 0 ? 'button primary' : 'button plain'} to={href}>
              {link}
            </ScreenLink>
          </li>
        ))}
      </ol>
    </section>
  )
}

export interface NothingHereProps {
  range: string
  /** Whether a longer one can be chosen. */
  hasLonger: boolean
  /** Whether one mode alone is shown. */
  isOneMode: boolean
}

/** An app whose sends are in another period, or in the other mode. It names only what can be widened. */
export function NothingHere({ range, hasLonger, isOneMode }: NothingHereProps) {
  const ways = [...(hasLonger ? ['a longer range'] : []), ...(isOneMode ? ['both modes'] : [])]
  return (
    <Notice>
      Nothing was sent here in the last {range}. {ways.length > 0 && `Choose ${ways.join(', or ')}.`}
    </Notice>
  )
}

// The mail that tells an owner of an incident. In: a notice, and what it is about. Out: subject and text, in plain
// words: what happened, what it means, what to do.
import { isoTime } from '../../infra/iso-time.ts'
import type { OpsEventType } from '../../machines/webhook-events.ts'
import type { NoticeDoc } from '../domain/notices/documents.ts'
import type { ConsoleMail } from '../domain/tenancy/console-mail.ts'
import type { App, Company } from '../domain/tenancy/documents.ts'

export interface NoticeMailInput {
  company: Pick<Company, '_id' | 'name' | 'low_balance_micros'>
  /** Undefined where the notice is about the company. */
  app: Pick<App, '_id' | 'name'> | undefined
  publicUrl: string | null
}

interface Words {
  subject: string
  sentences: string[]
  /** The screen that helps. */
  path: string
}

const MICROS = 1_000_000

export function noticeMail(
  notice: Pick<NoticeDoc, 'type' | 'subject' | 'countries' | 'retention'>,
  { company, app, publicUrl }: NoticeMailInput,
): Pick<ConsoleMail, 'subject' | 'text'> {
  const appName = app?.name ?? ''
  const inApp = `/a/${app?._id}`
  const words: Record<OpsEventType, Words> = {
    'ops.balance_low': {
      subject: `The balance of ${company.name} is low`,
      sentences: [
        `The balance of ${company.name} has fallen below ${(company.low_balance_micros ?? 0) / MICROS}, the threshold that its owners set.`,
        'When it is used up, messages that have a price are refused. The operator of this deployment credits it.',
      ],
      path: `/c/${company._id}/money`,
    },
    'ops.endpoint_paused': {
      subject: `A webhook endpoint of ${appName} is paused`,
      sentences: [
        `The endpoint ${notice.subject} of the app ${appName} failed for too long, so no events are sent to it any more. They are kept for at least 7 days.`,
        'Mend the endpoint and enable it again: then the events that wait are sent.',
      ],
      path: `${inApp}/webhooks`,
    },
    'ops.provider_open': {
      subject: `The provider ${notice.subject} of ${appName} is failing`,
      sentences: [
        `At least half of the calls to the provider ${notice.subject} of the app ${appName} failed within a minute, so it is not called at the moment. Where the app has another provider, messages go there.`,
        'Now and then a message tests whether it works again. Nothing has to be done if the vendor recovers; if not, look at its account and credentials.',
      ],
      path: `${inApp}/providers`,
    },
    'ops.provider_silent': {
      subject: `Codes sent by ${notice.subject} of ${appName} are not entered`,
      sentences: [
        `The provider ${notice.subject} of the app ${appName} accepts messages, but hardly anyone enters their codes${placesIn(notice)}. It usually does better.`,
        'Look at your own page first. If codes can be entered there, the messages are most likely not delivered: ask the vendor, or pause the provider.',
        'Where the app has another provider for the country, it gets half of the messages until it is known whether its codes are entered. If they are, it gets all but a few, which show when this one recovers. If they are not either, your own order holds.',
      ],
      path: `${inApp}/routing`,
    },
    'ops.retention_shortened': {
      subject: `${appName} will keep its verifications for a shorter time`,
      sentences: retentionSentences(appName, notice),
      path: `/c/${company._id}/privacy`,
    },
  }
  const { subject, sentences, path } = words[notice.type]
  const link = publicUrl === null ? [] : [`${publicUrl}${path}`]
  const why = `You get this mail as an owner of ${company.name}. You get one for each incident.`
  return { subject, text: [...sentences, ...link, why].join('\n\n') }
}

function retentionSentences(appName: string, { retention }: Pick<NoticeDoc, 'retention'>): string[] {
  const { days_before = 0, retention_days = 0, effective_at = 0 } = retention ?? {}
  const days = (count: number): string => (count === 1 ? '1 day' : `${count} days`)
  return [
    `An owner or an operator set the app ${appName} to keep its verifications for ${days(retention_days)}, in place of ${days(days_before)}. It is in force from ${isoTime(effective_at)} on.`,
    'What is older then is erased for good: recipients, client addresses, messages and timelines. If that is not meant, set it to the former number before then, and nothing is erased. The audit log says who changed it.',
  ]
}

/** ` in BR, GB`; nothing where it is about messages of no country. */
const placesIn = ({ countries = [] }: Pick<NoticeDoc, 'countries'>): string =>
  countries.length === 0 ? '' : ` in ${countries.join(', ')}`

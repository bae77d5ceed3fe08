// Notices in words.
import type { Schemas } from '../../api/client.ts'

type EventType = Schemas['NoticeRecipients']['endpoints'][number]['events'][number]

const LABELS: Record<EventType, string> = {
  'ops.balance_low': 'Balance low',
  'ops.endpoint_paused': 'Endpoint paused',
  'ops.provider_open': 'Provider failing',
  'ops.provider_silent': 'Provider silent',
  'ops.retention_shortened': 'Retention shortened',
}

export const noticeLabel = (type: EventType): string => LABELS[type]

/** `2 sent`, `1 of 2 sent`, `None`. */
export function mailWords(mails: Schemas['Notice']['mails']): string {
  const sent = mails.filter(({ sent_at }) => sent_at !== null).length
  if (mails.length === 0) return 'None'
  return sent === mails.length ? `${sent} sent` : `${sent} of ${mails.length} sent`
}

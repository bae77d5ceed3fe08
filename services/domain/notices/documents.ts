// Notices as they are stored: one document for each incident. The sweeper opens and closes them
// (services/sweeper/incidents.ts) and tells of them (services/sweeper/tell-notices.ts).
import type { RevisedDoc } from '../../../infra/store/docs.ts'
import { collection } from '../../../infra/store/store.ts'
import type { OpsEventType } from '../../../machines/webhook-events.ts'
import type { PendingRetention } from '../tenancy/documents.ts'

export interface NoticeDoc extends RevisedDoc {
  /** Names the incident: what is wrong, and how often it was before (`incidentName`). Unique, so that processes that see the same incident
   *  write one notice. */
  incident: string
  type: OpsEventType
  company_id: string
  /** Absent where it is about the company. */
  app_id?: string
  /** What it is about: a company, an app or an endpoint by its id, a provider by its name. */
  subject: string
  /** Where it was so when it began, of `ops.provider_silent`. */
  countries?: string[]
  /** What was asked for, of `ops.retention_shortened`, and the days that hold until then. */
  retention?: PendingRetention & { days_before: number }
  at: number
  /** When it was last seen, to within some minutes. */
  seen_at: number
  /** Its `at`, while it goes on. */
  open_since?: number
  mails: NoticeMail[]
  /** How often a process began to send its mails. */
  tries: number
  /** The events were published. */
  events_told?: true
  /** When the sweeper tells of it next; absent once all are told, or given up. */
  due_at?: number
  purge_at: Date
}

/** A mail to one owner. The address is read when it is sent. */
export interface NoticeMail {
  user_id: string
  /** The id of the mail, the same in every try. */
  mail_id: string
  sent_at?: number
}

/** After it was last seen. */
export const NOTICE_RETENTION_DAYS = 90

export const NOTICE_COLLECTIONS = {
  notices: collection<NoticeDoc>({
    belongsTo: [
      { to: 'companies', ofOwner: company_id => ({ company_id }) },
      { to: 'apps', ofOwner: app_id => ({ app_id }) },
    ],
    indexes: [
      { fields: { app_id: 1, _id: 1 }, partial: { app_id: { $gt: '' } } },
      { fields: { incident: 1 }, unique: true },
      { fields: { company_id: 1, _id: -1 } },
      { fields: { type: 1, open_since: 1 }, partial: { open_since: { $gt: 0 } } },
      { fields: { due_at: 1 }, partial: { due_at: { $gt: 0 } } },
    ],
    purged: true,
  }),
}

const NUMBER_DIGITS = 9

/** `wrong`: what is wrong, such as a type and the id of an endpoint. Names of one thing sort by `number`, which begins with 1. */
export const incidentName = (wrong: string, number: number): string =>
  `${wrong}:${String(number).padStart(NUMBER_DIGITS, '0')}`

export const wrongOf = ({ incident }: Pick<NoticeDoc, 'incident'>): string => incident.slice(0, -NUMBER_DIGITS - 1)

export const numberOf = ({ incident }: Pick<NoticeDoc, 'incident'>): number => Number(incident.slice(-NUMBER_DIGITS))

/** A filter: all incidents of one thing. */
export const incidentsOf = (wrong: string) => ({
  incident: { $gte: incidentName(wrong, 0), $lte: incidentName(wrong, 10 ** NUMBER_DIGITS - 1) },
})

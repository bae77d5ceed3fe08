// Tells of incidents: events for the endpoints that ask for them, a mail to each owner. In: notices that are due. Out:
// notices that say what was sent. Mails take long, so they are sent beside the other sweeps.
//
// A process takes a notice by changing its revision, and keeps it by each write, so two processes do not send one mail.
// Events have the same ids in every try. A mail is sent, then recorded: after a crash between the two it is sent again,
// with the same Message-ID, because a mail that is never sent harms more than one that comes twice.
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Logger } from '../../infra/log/log.ts'
import { changeOne } from '../../infra/store/one-doc.ts'
import { scanAll } from '../../infra/store/scan.ts'
import { HOUR_MS, MINUTE_MS } from '../../infra/time.ts'
import { createUnderWay } from '../../infra/under-way.ts'
import type { CountersignStore } from '../domain/collections.ts'
import type { NoticeDoc } from '../domain/notices/documents.ts'
import type { SendConsoleMail } from '../domain/tenancy/console-mail.ts'
import { isClosed } from '../domain/tenancy/documents.ts'
import { userContext } from '../domain/users/documents.ts'
import { notifyOps } from '../domain/webhooks/ops-events.ts'
import { noticeMail } from './notice-mail.ts'
import { byOneProcess, type Sweep } from './sweep.ts'

export interface TellNoticeDeps {
  store: CountersignStore
  broker: Parameters<typeof notifyOps>[0]['broker']
  sendMail: SendConsoleMail
  keyring: Pick<Keyring, 'unseal'>
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'info' | 'warn'>
  /** The address of the dashboard, if it is known. */
  publicUrl: string | null
}

/** Longer than one mail takes. */
const TAKEN_MS = 2 * MINUTE_MS
/** After each try in which not every mail was sent. */
const RETRY_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 8 * HOUR_MS]
const MAX_AT_ONCE = 5

type NoticeUpdate = Partial<Pick<NoticeDoc, 'tries' | 'events_told' | 'mails'>>

export function createTellNotices(deps: TellNoticeDeps) {
  const { store, broker, sendMail, keyring, clock, log, publicUrl } = deps
  const notices = store.docs('notices')
  const running = createUnderWay()
  let stopping = false

  /** Null when another process has taken the notice. */
  async function save(notice: NoticeDoc, update: NoticeUpdate): Promise<NoticeDoc | null> {
    const { _id, rev } = notice
    const $set = { ...update, due_at: clock.now() + TAKEN_MS }
    return (await changeOne(notices, { _id, rev, update: { $set } })) ? { ...notice, ...$set, rev: rev + 1 } : null
  }

  async function tell(found: NoticeDoc): Promise<void> {
    const tries = found.tries + 1
    let notice = await save(found, found.events_told ? { tries } : {})
    if (notice && !notice.events_told) {
      await notifyOps({ store, broker }, notice, appsToldOf(notice))
      notice = await save(notice, { events_told: true, tries })
    }
    let unsent = 0
    for (const { user_id } of found.mails.filter(({ sent_at }) => sent_at === undefined)) {
      if (!notice || stopping) return
      if (await mail(notice, user_id))
        notice = await save(notice, { mails: withSent(notice.mails, user_id, clock.now()) })
      else {
        unsent += 1
        // A mail that fails may take as long as the notice is taken for.
        notice = await save(notice, {})
      }
    }
    if (!notice) return
    const { _id, rev } = notice
    const waitMs = unsent > 0 ? RETRY_MS[tries - 1] : undefined
    const update =
      waitMs === undefined ? { $unset: { due_at: true as const } } : { $set: { due_at: clock.now() + waitMs } }
    await notices.change([{ _id, rev, update }])
  }

  async function* appsToldOf({ app_id, company_id }: NoticeDoc): AsyncGenerator<string> {
    if (app_id !== undefined) yield app_id
    else for await (const { _id } of scanAll(store.docs('apps'), { company_id })) yield _id
  }

  /** Answers whether there is nothing left to send to this owner. */
  async function mail(notice: NoticeDoc, user_id: string): Promise<boolean> {
    const { _id, type, company_id, app_id = '', mails } = notice
    const known = { notice_id: _id, type, user_id }
    try {
      const [users, companies, apps] = await Promise.all([
        store.docs('users').get([user_id]),
        store.docs('companies').get([company_id]),
        store.docs('apps').get([app_id]),
      ])
      const [user, company] = [users.get(user_id), companies.get(company_id)]
      // Who was removed, or is an owner no more, is not told. Owners of a closed company cannot act.
      if (!company || isClosed(company) || user?.role !== 'owner') return true
      const text = noticeMail(notice, { company, app: apps.get(app_id), publicUrl })
      const recipient = keyring.unseal(user.sealed_email, userContext.email(user_id))
      const id = mails.find(one => one.user_id === user_id)?.mail_id as string
      const kind = await sendMail({ id, recipient, ...text })
      if (kind === 'sent') log.info(known, 'notice.mail_sent')
      else log.warn({ ...known, why: kind }, 'notice.mail_not_sent')
      return kind === 'sent'
    } catch (error) {
      log.warn({ ...known, err: error }, 'notice.mail_not_sent')
      return false
    }
  }

  const sweeps: Record<string, Sweep> = {
    notices: byOneProcess(async () => {
      const free = MAX_AT_ONCE - running.size()
      if (free === 0) return 0
      const filter = { due_at: { $gt: 0, $lte: clock.now() } }
      const due = await notices.find(filter, { sort: { due_at: 1 }, limit: free })
      for (const notice of due)
        running.add(tell(notice).catch(error => log.warn({ notice_id: notice._id, err: error }, 'notice.not_told')))
      return due.length
    }),
  }
  return {
    sweeps,
    /** Resolves when the mails under way are recorded. */
    async stop(): Promise<void> {
      stopping = true
      await running.settled()
    },
  }
}

const withSent = (mails: NoticeDoc['mails'], user_id: string, sent_at: number): NoticeDoc['mails'] =>
  mails.map(one => (one.user_id === user_id ? { ...one, sent_at } : one))

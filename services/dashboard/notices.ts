// Notices of a company: its incidents, and who is told of them. The sweeper finds them and tells of them.
import { z } from 'zod'
import { unsealOrNull } from '../../infra/crypto/unseal-or-null.ts'
import { isoTime, isoTimeOrNull } from '../../infra/iso-time.ts'
import { scanAll } from '../../infra/store/scan.ts'
import { OPS_EVENTS } from '../../machines/webhook-events.ts'
import type { NoticeDoc } from '../domain/notices/documents.ts'
import { findOwners } from '../domain/notices/owners.ts'
import { timeSchema } from '../domain/openapi/shared-schemas.ts'
import { hasConsoleMail } from '../domain/tenancy/console-mail.ts'
import { userContext } from '../domain/users/documents.ts'
import { asksFor, findEndpoints } from '../domain/webhooks/documents.ts'
import { endpointId } from '../domain/webhooks/endpoint-ids.ts'
import { ok, page } from './answers.ts'
import { operation } from './operation.ts'
import { pageOf } from './page-schema.ts'
import { pageQuery } from './pages.ts'

const opsEvent = z
  .enum(OPS_EVENTS)
  .meta({ id: 'OpsEventType', description: 'What a notice is about, as the type of its event.' })

const noticeMail = z
  .object({
    user_id: z.string().meta({ description: 'The owner.' }),
    sent_at: timeSchema('When the mail was sent, or the owner was found to be one no more; null before.').nullable(),
  })
  .meta({ id: 'NoticeMail', description: 'A mail to an owner.' })

const notice = z
  .object({
    id: z.string().meta({ description: 'Identifies the notice.' }),
    type: opsEvent,
    company_id: z.string().meta({ description: 'The company.' }),
    app_id: z.string().nullable().meta({ description: 'The app; null where it is about the company.' }),
    subject: z
      .string()
      .meta({ description: 'What it is about: the id of the company, app or endpoint, or the name of the provider.' }),
    at: timeSchema('When it began.'),
    ongoing: z.boolean().meta({ description: 'Whether it still goes on.' }),
    mails: z
      .array(noticeMail)
      .meta({ description: 'To those who were owners when it began. Empty where the deployment sent no mail then.' }),
  })
  .meta({ id: 'Notice', description: 'An incident that owners and endpoints are told of once.' })
type NoticeAnswer = z.output<typeof notice>

const owner = z
  .object({
    user_id: z.string().meta({ description: 'The owner.' }),
    email: z.string().nullable().meta({ description: 'Null when its data key is not configured now.' }),
  })
  .meta({ id: 'NoticeOwner', description: 'An owner who gets mails.' })

const endpoint = z
  .object({
    id: z.string().meta({ description: 'The endpoint.' }),
    app_id: z.string().meta({ description: 'Its app.' }),
    url: z.string().meta({ description: 'Its address.' }),
    events: z.array(opsEvent).meta({ description: 'The events of notices that it asks for.' }),
  })
  .meta({ id: 'NoticeEndpoint', description: 'An endpoint that gets events of notices.' })
type NoticeEndpoint = z.output<typeof endpoint>

const recipients = z
  .object({
    by_email: z.boolean().meta({ description: "Whether the deployment's own app has an email provider." }),
    owners: z.array(owner).meta({ description: 'Who gets mails, at most 50.' }),
    endpoints: z
      .array(endpoint)
      .meta({ description: 'Which endpoints ask for the events of notices, of 100 apps at most.' }),
  })
  .meta({ id: 'NoticeRecipients', description: 'Who is told of incidents.' })

const MAX_APPS = 100

const ID = '01k2m8x4e9s7v3hqz5tnw6yb0c'
const example: NoticeAnswer = {
  id: `ntc_${ID}`,
  type: 'ops.balance_low',
  company_id: `cmp_${ID}`,
  app_id: null,
  subject: `cmp_${ID}`,
  at: '2030-01-01T12:00:00.000Z',
  ongoing: true,
  mails: [{ user_id: `usr_${ID}`, sent_at: '2030-01-01T12:00:01.000Z' }],
}

const noticeView = (doc: NoticeDoc): NoticeAnswer => ({
  id: doc._id,
  type: doc.type,
  company_id: doc.company_id,
  app_id: doc.app_id ?? null,
  subject: doc.subject,
  at: isoTime(doc.at),
  ongoing: doc.open_since !== undefined,
  mails: doc.mails.map(({ user_id, sent_at = null }) => ({ user_id, sent_at: isoTimeOrNull(sent_at) })),
})

export const noticeOperations = [
  operation({
    id: 'listNotices',
    request: 'GET /companies/{id}/notices',
    role: 'viewer',
    summary: "List a company's notices",
    description: 'Incidents of the last 90 days, newest first.',
    query: pageQuery,
    answers: [page(pageOf('NoticePage', notice), 'A page of notices.', example)],
    handle: ({ ctx, company, query }, { store, readPage }) => {
      const docs = store.docs('notices')
      const filter = { company_id: company._id }
      return readPage(ctx, { docs, filter, newestFirst: true, show: noticeView }, query)
    },
  }),
  operation({
    id: 'getNoticeRecipients',
    request: 'GET /companies/{id}/notices/recipients',
    role: 'viewer',
    summary: 'Who is told of incidents',
    description: 'The owners, if the deployment can send mails, and the endpoints that ask for `ops.*` events.',
    answers: [
      ok(recipients, 'Who is told.', {
        by_email: true,
        owners: [{ user_id: `usr_${ID}`, email: 'ada@example.com' }],
        endpoints: [
          {
            id: `whk_${ID}`,
            app_id: `app_${ID}`,
            url: 'https://shop.example/hooks',
            events: ['ops.balance_low'],
          },
        ],
      }),
    ],
    handle: async ({ company }, { store, tenancy, keyring }) => {
      const owners = await findOwners(store, company._id)
      const endpoints: NoticeEndpoint[] = []
      let apps = 0
      for await (const { _id: app_id } of scanAll(store.docs('apps'), { company_id: company._id })) {
        for (const endpoint of await findEndpoints(store.docs('webhooks'), app_id)) {
          const events = OPS_EVENTS.filter(type => asksFor(endpoint, type))
          if (events.length > 0) endpoints.push({ id: endpointId(endpoint._id), app_id, url: endpoint.url, events })
        }
        apps += 1
        if (apps === MAX_APPS) break
      }
      return {
        by_email: await hasConsoleMail(tenancy),
        owners: owners.map(({ _id, sealed_email }) => ({
          user_id: _id,
          email: unsealOrNull(keyring, sealed_email, userContext.email(_id)),
        })),
        endpoints,
      }
    },
  }),
]

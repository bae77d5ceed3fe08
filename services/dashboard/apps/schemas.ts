// An app as the admin API answers it, its settings complete with their defaults.
import { z } from 'zod'
import { timeSchema } from '../../domain/openapi/shared-schemas.ts'
import { deletableAt } from '../closing.ts'
import { pageOf } from '../page-schema.ts'
import { appSettings } from './settings-schemas.ts'

const settingsWarning = z
  .object({
    path: z.string().meta({ description: 'In the settings, dotted.' }),
    message: z.string().meta({ description: 'What is wrong with it; the words follow the name of the setting.' }),
  })
  .meta({
    id: 'SettingsWarning',
    description: 'A stored setting that is hardly meant: no send can use it.',
  })

const pendingRetention = z
  .object({
    retention_days: z.int().meta({ description: 'It is shorter than that of the settings.' }),
    effective_at: timeSchema('From when it is in force: then verifications that are older are erased.'),
  })
  .meta({
    id: 'PendingRetention',
    description:
      'A shorter `retention_days` that is not in force yet. A change to a value that is not shorter than the one in force undoes it. Null where none is pending.',
  })

const twilioSids = z
  .object({
    account_sid: z.string().meta({ description: 'Of the company: the user name.' }),
    service_sid: z.string().meta({ description: 'Of the app.' }),
  })
  .meta({ id: 'TwilioSids', description: 'By what Twilio’s API, under `/compat/twilio`, knows the app.' })

export const app = z
  .object({
    id: z.string().meta({ description: 'Identifies the app.' }),
    company_id: z.string().meta({ description: 'The company it belongs to.' }),
    name: z.string().meta({ description: 'It is in the messages.' }),
    settings: appSettings,
    pending_retention: pendingRetention.nullable(),
    warnings: z.array(settingsWarning).meta({ description: 'What is hardly meant in the settings.' }),
    twilio: twilioSids,
    created_at: timeSchema('When it was created.'),
    closed_at: timeSchema('When it was closed: its keys are refused since. Null while it is open.').nullable(),
    deletable_at: deletableAt,
  })
  .meta({ id: 'App', description: 'An app of a company: its keys, settings, providers and webhook.' })

export const appPage = pageOf('AppPage', app)

export type AppAnswer = z.output<typeof app>

// An app as the admin API answers it, its settings complete with their defaults.
import { z } from 'zod'
import { timeSchema } from '../../domain/openapi/shared-schemas.ts'
import { pageOf } from '../page-schema.ts'
import { appSettings } from './settings-schemas.ts'

const settingsWarning = z
  .object({
    path: z.string().meta({ description: 'In the settings, dotted.' }),
    message: z.string().meta({ description: 'What is wrong with it; the words follow the name of the setting.' }),
  })
  .meta({
    id: 'SettingsWarning',
    description:
      'A stored setting that is hardly meant: no send can use it, or an earlier release accepted what is refused now.',
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
    warnings: z.array(settingsWarning).meta({ description: 'What is hardly meant in the settings.' }),
    twilio: twilioSids,
    created_at: timeSchema('When it was created.'),
    closed_at: timeSchema('When it was closed: its keys are refused since. Null while it is open.').nullable(),
  })
  .meta({ id: 'App', description: 'An app of a company: its keys, settings, providers and webhook.' })

export const appPage = pageOf('AppPage', app)

export type AppAnswer = z.output<typeof app>

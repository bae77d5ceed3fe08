// The provider types, in the order in which the screen offers them. A new type is a declaration beside this file and its line here, and an
// adapter in services/channel/providers: docs/adding-a-provider.md.
import { CHANNELS, type Channel } from '../../../../machines/channels.ts'
import type { ConfigField, ConfigOf, ProviderDeclaration } from './declaration.ts'
import { http } from './http.ts'
import { infobip } from './infobip.ts'
import { postmark } from './postmark.ts'
import { sandbox } from './sandbox.ts'
import { ses } from './ses.ts'
import { smtp } from './smtp.ts'
import { telegram_gateway } from './telegram_gateway.ts'
import { telnyx } from './telnyx.ts'
import { twilio } from './twilio.ts'
import { vonage } from './vonage.ts'
import { whatsapp_cloud } from './whatsapp_cloud.ts'

const DECLARATIONS = {
  twilio,
  vonage,
  telnyx,
  infobip,
  whatsapp_cloud,
  telegram_gateway,
  ses,
  postmark,
  smtp,
  http,
  sandbox,
}

export type ProviderType = keyof typeof DECLARATIONS

/** The config of each type, with defaults. */
export type ProviderConfigs = { [T in ProviderType]: ConfigOf<(typeof DECLARATIONS)[T]> }

export const PROVIDER_TYPES = Object.keys(DECLARATIONS) as ProviderType[]

/** Asked for a stored provider, which a newer release may have saved. */
export const isProviderType = (type: string): type is ProviderType => Object.hasOwn(DECLARATIONS, type)

export const declarationOf = (type: ProviderType): ProviderDeclaration => DECLARATIONS[type]

export const channelsOf = (type: ProviderType): readonly Channel[] => declarationOf(type).channels ?? CHANNELS

export interface FieldAtPath extends ConfigField {
  /** In the config; dotted for a member of a group. */
  path: string
}

export const fieldsOf = (type: ProviderType): FieldAtPath[] =>
  Object.entries(declarationOf(type).config).map(([path, field]) => ({ ...field, path }))

// A config of each provider type with a value in every member, and what tests make of it.
import { declarationOf, fieldsOf, type ProviderType } from '../../services/domain/tenancy/provider-types/list.ts'
import { rsaPrivateKey } from './rsa-key.ts'
import { DOCUMENTED_VENDORS } from './vendors/documented-vendors.ts'

export type Members = Record<string, unknown>

const documented = DOCUMENTED_VENDORS.map(({ type, config }) => [type, { ...config, base_url: 'https://one.example' }])

export const COMPLETE_CONFIGS = {
  ...Object.fromEntries(documented),
  twilio: {
    account_sid: 'AC11111111111111111111111111111111',
    auth_token: 'twilio-token',
    from: '+15550001111',
    messaging_service_sid: 'MG11111111111111111111111111111111',
    base_url: 'https://one.example',
  },
  vonage: {
    application_id: 'a',
    private_key: rsaPrivateKey(),
    signature_secret: 'vonage-secret',
    from: 'Acme',
    base_url: 'https://one.example',
  },
  whatsapp_cloud: {
    phone_number_id: '1',
    access_token: 'a',
    app_secret: 'b',
    verify_token: 'c',
    template: 't',
    template_language: 'en_US',
    api_version: 'v20.0',
    base_url: 'https://one.example',
  },
  telegram_gateway: { token: 'tg-secret', base_url: 'https://one.example' },
  smtp: {
    host: 'one.example',
    port: 2525,
    secure: false,
    user: 'u',
    pass: 'p',
    from: 'a@b.example',
    dkim: { domain: 'b.example', selector: 's', private_key: 'k' },
  },
  http: {
    url: 'https://gateway.example/send',
    method: 'PUT',
    headers: { authorization: 'h' },
    body: { a: 'b' },
    secret: 'sixteen letters!',
  },
  sandbox: {},
} as Record<ProviderType, Members>

/** Only the members that are required. */
export function leastConfig(type: ProviderType): Members {
  const [first] = declarationOf(type).oneOf ?? []
  const names = fieldsOf(type).flatMap(({ path, required }) => (required || path === first ? [path] : []))
  return Object.fromEntries(Object.entries(COMPLETE_CONFIGS[type]).filter(([name]) => names.includes(name)))
}

/** A complete config, with `mark` and a number at the head of each secret. What stands before the first line of a PEM is not read. */
export function markedConfig(type: ProviderType, mark: string): Members {
  const config = structuredClone(COMPLETE_CONFIGS[type])
  fieldsOf(type).forEach(({ path, kind, secret, key }, at) => {
    const [name = '', inner] = path.split('.')
    const marked = `${mark}${at}${key ? `\n${rsaPrivateKey()}` : '-0123456789abcdef'}`
    if (kind === 'headers') config[name] = { authorization: marked }
    else if (secret && inner !== undefined) (config[name] as Members)[inner] = marked
    else if (secret) config[name] = marked
  })
  return config
}

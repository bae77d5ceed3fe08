// The table of provider types on the screen says what the server's schemas say.
import { expect } from 'chai'
import { CHANNELS as ALL_CHANNELS } from '../../../../machines/channels.ts'
import { fillBody } from '../../../../services/channel/providers/http.body.ts'
import {
  CHANNELS,
  type ConfigField,
  DEFAULT_BODY,
  PLACEHOLDERS,
  PROVIDER_TYPES,
  type ProviderType,
  typesFor,
} from '../../../../services/dashboard/web/screens/providers/provider-types.ts'
import { CONFIG_SCHEMAS } from '../../../../services/domain/tenancy/provider-configs.ts'
import { destinationOf } from '../../../../services/domain/tenancy/provider-destinations.ts'
import { SECRET_MEMBERS } from '../../../../services/domain/tenancy/provider-secrets.ts'
import { channelsOf, parseProviderConfig, resolveProvider } from '../../../../services/domain/tenancy/providers.ts'
import { rsaPrivateKey } from '../../../support/rsa-key.ts'

type Members = Record<string, unknown>

/** A complete config of each type, with a value in every member. */
const COMPLETE: Record<ProviderType, Members> = {
  twilio: {
    account_sid: 'AC11111111111111111111111111111111',
    auth_token: 't',
    from: '+1',
    messaging_service_sid: 'MG11111111111111111111111111111111',
    base_url: 'https://one.example',
  },
  vonage: {
    application_id: 'a',
    private_key: rsaPrivateKey(),
    signature_secret: 's',
    from: 'f',
    base_url: 'https://one.example',
  },
  http: {
    url: 'https://one.example/',
    method: 'PUT',
    headers: { authorization: 'h' },
    body: { a: 'b' },
    secret: 's',
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
  telegram_gateway: { token: 't', base_url: 'https://one.example' },
  smtp: {
    host: 'one.example',
    port: 2525,
    secure: false,
    user: 'u',
    pass: 'p',
    from: 'a@b.example',
    dkim: { domain: 'b.example', selector: 's', private_key: 'k' },
  },
  sandbox: {},
}

const pathsIn = (members: Members, under = ''): string[] =>
  Object.entries(members).flatMap(([name, value]) =>
    name === 'dkim' ? pathsIn(value as Members, 'dkim.') : [`${under}${name}`],
  )
const pathsWhere = (type: ProviderType, is: (field: ConfigField) => unknown): string[] =>
  PROVIDER_TYPES[type].fields
    .filter(is)
    .map(({ path }) => path)
    .sort()

describe('the table of provider types', () => {
  it('has every type of the server, with its channels', () => {
    expect(Object.keys(PROVIDER_TYPES).sort()).to.deep.equal(Object.keys(CONFIG_SCHEMAS).sort())
    for (const type of Object.keys(CONFIG_SCHEMAS) as ProviderType[])
      expect([...PROVIDER_TYPES[type].channels], type).to.have.members([...channelsOf(type)])
    expect(CHANNELS.map(({ value }) => value)).to.have.members([...ALL_CHANNELS])
    expect(typesFor('email')).to.have.members(['smtp', 'http', 'sandbox'])
  })

  for (const type of Object.keys(CONFIG_SCHEMAS) as ProviderType[])
    describe(type, () => {
      const complete = COMPLETE[type]
      const resolved = resolveProvider(type, complete).config as Members

      it('has a field for every member, and no other', () => {
        const parsed = parseProviderConfig(type, complete)
        expect(parsed.ok, JSON.stringify(parsed)).to.equal(true)
        expect(pathsIn(resolved).sort(), 'the complete config has every member').to.deep.equal(pathsIn(complete).sort())
        expect(pathsWhere(type, () => true)).to.deep.equal(pathsIn(resolved).sort())
      })

      it('names the members that the server requires', () => {
        const refused = parseProviderConfig(type, {})
        const required = refused.ok ? [] : refused.problems.map(({ path }) => path)
        // Of Twilio's two kinds of sender one is required, which a hint says.
        const always = required.filter(path => type !== 'twilio' || path !== 'from')
        expect(pathsWhere(type, ({ required: is }) => is)).to.deep.equal(always.sort())
      })

      it('names the secrets', () => {
        const secrets = SECRET_MEMBERS[type].map(path => path.replace('.*', ''))
        expect(pathsWhere(type, ({ secret }) => secret)).to.deep.equal([...secrets].sort())
      })

      it('has the defaults of the server', () => {
        const needed = Object.fromEntries(
          Object.entries(complete).filter(([name]) =>
            PROVIDER_TYPES[type].fields.some(({ path, required }) => path === name && required),
          ),
        )
        const withSender = type === 'twilio' ? { ...needed, from: '+1' } : needed
        const defaults = resolveProvider(type, withSender).config as Members
        for (const { path, default: usual } of PROVIDER_TYPES[type].fields) {
          if (path in withSender || path.startsWith('dkim.')) continue
          const nothing = path === 'headers' ? {} : null
          expect(defaults[path], path).to.deep.equal(usual === undefined ? nothing : usual)
        }
        if (type === 'smtp')
          expect(resolveProvider(type, { ...withSender, secure: true }).config).to.include({ port: 465 })
      })

      it('names the members that decide who gets the secrets', () => {
        const others: Members = { base_url: 'https://x.example', url: 'https://x.example/', host: 'x.example' }
        const before = destinationOf(type, resolved as never)
        const deciding = Object.keys(complete).filter(name => {
          const other = others[name] ?? (name === 'port' ? 26 : name === 'secure' ? true : undefined)
          if (other === undefined) return false
          const changed = resolveProvider(type, { ...complete, [name]: other }).config
          return JSON.stringify(destinationOf(type, changed as never)) !== JSON.stringify(before)
        })
        expect(pathsWhere(type, ({ destination }) => destination)).to.deep.equal(deciding.sort())
      })
    })

  it('explains every placeholder of a body', () => {
    const values = { recipient: 'r', text: 't', code: 'c', delivery_id: 'd' }
    const filled = fillBody(
      PLACEHOLDERS.map(({ name }) => name),
      values,
    )
    expect(filled).to.have.members(Object.values(values))
    expect(fillBody(DEFAULT_BODY, values)).to.deep.equal({ recipient: 'r', text: 't', delivery_id: 'd' })
  })
})

// A provider's config goes through the form and back without a loss, and secrets are kept, replaced and removed as the server expects.
import { expect } from 'chai'
import { applyConfigChange } from '../../../../services/dashboard/providers/changes.ts'
import {
  type ConfigForm,
  configOf,
  fieldOfRefusal,
  formOf,
  isMoved,
  type Members,
  rebaseForm,
} from '../../../../services/dashboard/web/screens/providers/config-form.ts'
import { maskConfig } from '../../../../services/domain/tenancy/provider-secrets.ts'
import type { ProviderType } from '../../../../services/domain/tenancy/provider-types/list.ts'
import { resolveProvider } from '../../../../services/domain/tenancy/providers.ts'
import { rsaPrivateKey } from '../../../support/rsa-key.ts'
import { testKeyring } from '../../../support/tenancy.ts'

const KEYRING = testKeyring()

const CONFIGS: [string, ProviderType, Members][] = [
  ['a small one', 'twilio', { account_sid: 'AC11111111111111111111111111111111', auth_token: 'secret', from: '+1' }],
  [
    'one with an address of its own',
    'twilio',
    { account_sid: 'AC11111111111111111111111111111111', auth_token: 's', from: '+1', base_url: 'https://p.example' },
  ],
  ['one with a key', 'vonage', { application_id: 'a', private_key: rsaPrivateKey(), from: 'Shop' }],
  ['one with optional secrets', 'whatsapp_cloud', { phone_number_id: '1', access_token: 'a', verify_token: 'c' }],
  ['one with a token', 'telegram_gateway', { token: 't' }],
  ['a mail server', 'smtp', { host: 'mail.example', from: 'a@b.example' }],
  ['a mail server with TLS', 'smtp', { host: 'mail.example', secure: true, user: 'u', pass: 'p', from: 'a@b.example' }],
  [
    'a mail server with a port and DKIM',
    'smtp',
    {
      host: 'mail.example',
      port: 2525,
      from: 'a@b.example',
      dkim: { domain: 'b.example', selector: 's', private_key: 'k' },
    },
  ],
  ['a gateway', 'http', { url: 'https://g.example/send' }],
  [
    'a gateway with everything',
    'http',
    {
      url: 'https://g.example/send?key=secret',
      method: 'PATCH',
      headers: { authorization: 'secret', 'x-key': 'other' },
      body: { to: '{{recipient}}', key: 'secret in the body', list: ['{{code}}', 1, null] },
      secret: 's',
    },
  ],
  ['a sandbox', 'sandbox', {}],
]

const shown = (type: ProviderType, raw: Members): Members =>
  maskConfig(KEYRING, type, resolveProvider(type, raw).config) as Members

/** What the server stores of a form. */
function stored(type: ProviderType, raw: Members, form: ConfigForm): unknown {
  const { config, problems } = configOf(type, form)
  expect([...problems]).to.deep.equal([])
  const before = { raw, resolved: resolveProvider(type, raw).config }
  const result = applyConfigChange(KEYRING, type, config, before as never)
  return result.ok ? result.value : result.problems
}
const withText = (form: ConfigForm, path: string, text: string): ConfigForm => ({
  ...form,
  texts: { ...form.texts, [path]: text },
})

describe('the form of a provider', () => {
  for (const [what, type, raw] of CONFIGS)
    it(`writes ${what} back as it is stored`, () => {
      expect(stored(type, raw, formOf(type, shown(type, raw)))).to.deep.equal(raw)
    })

  it('holds no secret, and shows fingerprints of those that are stored', () => {
    const raw = CONFIGS.find(([what]) => what === 'a gateway with everything')?.[2] ?? {}
    const form = formOf('http', shown('http', raw))
    expect(form.texts.secret).to.equal('')
    expect(form.stored.secret).to.match(/^hmac:/)
    expect(form.headers.map(({ name, value }) => [name, value])).to.deep.equal([
      ['authorization', ''],
      ['x-key', ''],
    ])
    expect(JSON.stringify(form)).not.to.include('secret in the body')
  })

  const TWILIO = { account_sid: 'AC11111111111111111111111111111111', auth_token: 'old', from: '+1' }

  it('removes a secret only when told so', () => {
    const raw = { url: 'https://g.example/', secret: 's' }
    const form = formOf('http', shown('http', raw))
    expect(stored('http', raw, form)).to.deep.equal(raw)
    expect(stored('http', raw, { ...form, removed: ['secret'] })).to.deep.equal({ ...raw, secret: null })
  })

  it('removes the password with its user, and DKIM with its domain', () => {
    const raw = {
      host: 'mail.example',
      user: 'u',
      pass: 'p',
      from: 'a@b.example',
      dkim: { domain: 'b.example', selector: 's', private_key: 'k' },
    }
    const form = formOf('smtp', shown('smtp', raw))
    const { user: _, ...anonymous } = raw
    expect(stored('smtp', raw, withText(form, 'user', ''))).to.deep.equal({ ...anonymous, pass: null })
    const { dkim: __, ...unsigned } = raw
    const withoutDkim = withText(withText(form, 'dkim.domain', ''), 'dkim.selector', '')
    expect(stored('smtp', raw, withoutDkim)).to.deep.equal(unsigned)
    expect(stored('smtp', raw, withText(form, 'dkim.selector', 's2'))).to.deep.equal({
      ...raw,
      dkim: { ...raw.dkim, selector: 's2' },
    })
  })

  it('adds, replaces, renames and removes headers', () => {
    const raw = { url: 'https://g.example/', headers: { a: '1', b: '2' } }
    const form = formOf('http', shown('http', raw))
    const [a, b] = form.headers
    if (!a || !b) throw new Error('two headers')
    const added = { ...form, headers: [a, { ...b, value: '3' }, { name: ' c ', value: '4', stored: null }] }
    expect(stored('http', raw, added)).to.deep.equal({ ...raw, headers: { a: '1', b: '3', c: '4' } })
    expect(stored('http', raw, { ...form, headers: [] })).to.deep.equal({ ...raw, headers: {} })
    const twice = configOf('http', { ...form, headers: [a, { name: 'A', value: 'x', stored: null }] })
    expect(twice.problems.get('headers')).to.include('twice')
    const unnamed = configOf('http', { ...form, headers: [{ name: '', value: 'x', stored: null }] })
    expect(unnamed.problems.get('headers')).to.include('name')
  })

  describe('on a config that another person has saved meanwhile', () => {
    const READ = { url: 'https://g.example/', headers: { Authorization: 'old', a: '1' } }
    const header = (name: string, value: string) => ({ name, value, stored: null })
    /** What the server stores of the rows that were edited, on what the other person has saved. */
    const saved = (edit: (rows: ConfigForm['headers']) => ConfigForm['headers'], theirs: Members) => {
      const before = formOf('http', shown('http', READ))
      const form = { ...before, headers: edit(before.headers) }
      return stored('http', theirs, rebaseForm(before, form, formOf('http', shown('http', theirs))))
    }
    const typed = (rows: ConfigForm['headers']) =>
      rows.map(row => (row.name === 'Authorization' ? { ...row, value: 'mine' } : row))

    it('keeps a header that the other has added', () => {
      const theirs = { ...READ, headers: { ...READ.headers, 'x-tenant': 'shop' } }
      expect(saved(typed, theirs)).to.deep.equal({
        ...READ,
        headers: { Authorization: 'mine', a: '1', 'x-tenant': 'shop' },
      })
    })

    it('has one row of a header that both have changed or added, with the value that was typed', () => {
      const theirs = { ...READ, method: 'PUT', headers: { ...READ.headers, Authorization: 'theirs', B: 'theirs' } }
      expect(saved(rows => [...typed(rows), header(' b ', '2')], theirs)).to.deep.equal({
        ...theirs,
        headers: { Authorization: 'mine', a: '1', b: '2' },
      })
    })
  })

  it('sends a number as a number, and what is none as it was typed, for the server to refuse', () => {
    const port = (text: string) => configOf('smtp', withText(formOf('smtp', null), 'port', text)).config.port
    expect([port('2525'), port('587'), port('many')]).to.deep.equal([2525, undefined, 'many'])
  })

  it('knows when the secrets would go to another address', () => {
    const before = formOf('twilio', shown('twilio', TWILIO))
    expect(isMoved('twilio', before, withText(before, 'from', '+2'))).to.equal(false)
    expect(isMoved('twilio', before, withText(before, 'base_url', 'https://p.example'))).to.equal(true)
    const mail = formOf('smtp', shown('smtp', { host: 'mail.example', from: 'a@b.example' }))
    expect(isMoved('smtp', mail, withText(mail, 'host', ' mail.example '))).to.equal(false)
    expect(isMoved('smtp', mail, { ...mail, switches: { secure: true } })).to.equal(true)
  })

  it('finds the field of a refusal', () => {
    const field = (type: ProviderType, path: string) => fieldOfRefusal(type, path)?.path
    expect(field('twilio', 'auth_token')).to.equal('auth_token')
    expect(field('http', 'headers.authorization')).to.equal('headers')
    expect(field('http', 'body.api_key')).to.equal('body')
    expect(field('smtp', 'dkim.private_key')).to.equal('dkim.private_key')
    expect(field('smtp', 'dkim')).to.equal(undefined)
    expect(field('twilio', 'sid')).to.equal(undefined)
  })
})

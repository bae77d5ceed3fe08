import { expect } from 'chai'
import fc from 'fast-check'
import { applyConfigChange } from '../../../../services/dashboard/providers/changes.ts'
import { destinationOf } from '../../../../services/domain/tenancy/provider-destinations.ts'
import { maskConfig, secretMembersOf } from '../../../../services/domain/tenancy/provider-secrets.ts'
import {
  PROVIDER_TYPES,
  type ProviderConfigs,
  type ProviderType,
} from '../../../../services/domain/tenancy/provider-types/list.ts'
import { resolveProvider } from '../../../../services/domain/tenancy/providers.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { type Members, markedConfig } from '../../../support/provider-configs.ts'
import { testKeyring } from '../../../support/tenancy.ts'

const KEYRING = testKeyring()

/** Every secret value begins with SECRET. */
const STORED: Partial<Record<ProviderType, Members>> = {
  ...Object.fromEntries(
    PROVIDER_TYPES.filter(type => type !== 'sandbox').map(type => [type, markedConfig(type, 'SECRET-')]),
  ),
  http: {
    url: 'https://gateway.example/send?key=SECRET-query',
    headers: { authorization: 'SECRET-header', 'x-key': 'SECRET-other' },
    body: { to: '{{recipient}}', keys: ['SECRET-body', { inner: 'SECRET-inner' }] },
    secret: 'SECRET-callbacks',
  },
}
const OTHER_DESTINATIONS: Partial<Record<ProviderType, Members[]>> = {
  http: [
    { url: 'https://evil.example/' },
    { url: 'https://gateway.example/evil?key=1' },
    { url: 'http://gateway.example/send' },
  ],
  smtp: [{ host: 'evil.example' }, { port: 25 }, { secure: true }],
}
const OTHER_BASE_URLS = [{ base_url: 'https://evil.example' }, { base_url: 'https://api.twilio.com/evil' }]

const stored = (type: ProviderType) => {
  const raw = STORED[type] ?? {}
  return { raw, resolved: resolveProvider(type, raw).config }
}

describe('a changed provider config', () => {
  it('takes a new receipt secret of at least 16 characters, and keeps a shorter one that is stored', () => {
    const raw = { url: 'https://gateway.example/send', secret: 'short' }
    const before = { raw, resolved: resolveProvider('http', raw).config as ProviderConfigs['http'] }
    const change = (config: object) => applyConfigChange(KEYRING, 'http', config, before)
    expect(change({ url: raw.url }).ok, 'omitted').to.equal(true)
    expect(change(raw).ok, 'given again').to.equal(true)
    expect(change({ ...raw, secret: 'sixteen letters!' }).ok).to.equal(true)
    const refused = change({ ...raw, secret: 'fifteen letters' })
    expect(!refused.ok && refused.problems.map(({ path }) => path)).to.deep.equal(['secret'])
  })

  for (const type of Object.keys(STORED) as ProviderType[]) {
    it(`of ${type} can be written as it was read`, () => {
      const before = stored(type)
      const answer = applyConfigChange(KEYRING, type, maskConfig(KEYRING, type, before.resolved), before)
      expect(answer.ok && resolveProvider(type, answer.value).config).to.deep.equal(before.resolved)
    })

    it(`of ${type} never keeps a stored secret for another destination`, () => {
      const before = stored(type)
      const shown = maskConfig(KEYRING, type, before.raw) as Members
      const member = (name: string) =>
        fc.constantFrom<unknown>(undefined, shown[name], null, 'mine', { ...(shown[name] as object) }, {})
      const given = fc.record(Object.fromEntries(Object.keys(shown).map(name => [name, member(name)])))
      const elsewhere = fc.constantFrom(...(OTHER_DESTINATIONS[type] ?? OTHER_BASE_URLS), {})
      fc.assert(
        fc.property(given, elsewhere, (members, address) => {
          const input = JSON.parse(JSON.stringify({ ...members, ...address }))
          const answer = applyConfigChange(KEYRING, type, input, before)
          if (!answer.ok || !JSON.stringify(answer.value).includes('SECRET')) return
          const there = destinationOf(type, resolveProvider(type, answer.value).config as never)
          expect(there).to.deep.equal(destinationOf(type, before.resolved as never))
        }),
        { numRuns: propertyRuns(150) },
      )
    })

    it(`of ${type} keeps omitted secrets, and requires them again for another destination`, () => {
      const before = stored(type)
      const secrets = secretMembersOf(type).map(path => path.replace(/\.\*$/, ''))
      const open = Object.fromEntries(Object.entries(before.raw).filter(([name]) => !secrets.includes(name)))
      const kept = applyConfigChange(KEYRING, type, open, before)
      expect(kept.ok && resolveProvider(type, kept.value).config).to.deep.equal(before.resolved)
      for (const address of OTHER_DESTINATIONS[type] ?? OTHER_BASE_URLS) {
        const moved = applyConfigChange(KEYRING, type, { ...open, ...address }, before)
        expect(moved.ok).to.equal(false)
        expect(moved.ok ? [] : moved.problems.map(({ message }) => message.split(':')[0])).to.include(
          'must be given again',
        )
      }
    })
  }

  it('of a new provider keeps no secrets', () => {
    const answer = applyConfigChange(
      KEYRING,
      'twilio',
      { account_sid: 'AC11111111111111111111111111111111', from: '+1' },
      null,
    )
    expect(answer.ok ? [] : answer.problems.map(({ path }) => path)).to.deep.equal(['auth_token'])
  })
})

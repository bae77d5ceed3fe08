import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import fc from 'fast-check'
import { readConfig } from '../../../infra/config/config.ts'
import { base64Key, configProblems, engineUrls, secrets, wrongVariables } from '../../support/config.ts'

describe('secrets', () => {
  it('are lists whose first entry is the one in use', () => {
    const { code, data } = readConfig(
      { CODE_SECRETS: `new:${base64Key(48)}, old:${base64Key(32)}`, DATA_KEYS: `k-2_B:${base64Key(32)}` },
      [],
    ).secrets
    expect(code).to.deep.equal([
      { id: 'new', key: Buffer.alloc(48, 7) },
      { id: 'old', key: Buffer.alloc(32, 7) },
    ])
    expect(data).to.deep.equal([{ id: 'k-2_B', key: Buffer.alloc(32, 7) }])
  })

  it('are read in either base64 alphabet, with or without padding', () => {
    const bytes = Buffer.alloc(32, 0xfb)
    const padded = bytes.toString('base64')
    for (const text of [padded, bytes.toString('base64url'), padded.replace('=', '')])
      expect(readConfig({ DATA_KEYS: `a:${text}` }, []).secrets.data?.[0]?.key).to.deep.equal(bytes)
  })

  it('are refused with a wrong key, id or list', () => {
    const key = base64Key(32)
    for (const [why, DATA_KEYS] of Object.entries({
      'a short key': `a:${base64Key(31)}`,
      'a long key': `a:${base64Key(33)}`,
      'no id': key,
      'an empty id': `:${key}`,
      'an id with a dot': `a.b:${key}`,
      'no key': 'a:',
      'text that is not base64': `a:${'!'.repeat(43)}`,
      'base64 with a character too many': `a:${key}AA`,
      'the same id twice': `a:${key},a:${key}`,
      'an empty entry': `a:${key},`,
    }))
      expect(wrongVariables({ DATA_KEYS }), why).to.deep.equal(['DATA_KEYS'])
  })

  it('include code secrets of 32 bytes or more', () => {
    expect(wrongVariables({ CODE_SECRETS: `a:${base64Key(31)}` })).to.deep.equal(['CODE_SECRETS'])
    expect(wrongVariables({ CODE_SECRETS: `a:${base64Key(64)}` })).to.deep.equal([])
  })

  it('include one operator token without a name, or several with names', () => {
    const tokens = (ADMIN_TOKEN: string) => readConfig({ ADMIN_TOKEN }, []).secrets.adminTokens
    expect(tokens('t0ken')).to.deep.equal([{ name: 'operator', token: 't0ken' }])
    expect(tokens('ann:t1:x, ci:t2')).to.deep.equal([
      { name: 'ann', token: 't1:x' },
      { name: 'ci', token: 't2' },
    ])
    for (const bad of ['a,b', 'ann:t1,ann:t2', 'ann:t1,bob:t1', 'ann:', ':t', 'two words', 'ann:t1,,', 'café'])
      expect([...new Set(wrongVariables({ ADMIN_TOKEN: bad }))], bad).to.deep.equal(['ADMIN_TOKEN'])
  })

  it('include operator tokens of at least 24 characters in production, each named by its place', () => {
    const production = { ...engineUrls, ...secrets, NODE_ENV: 'production' }
    const [short, long] = ['t'.repeat(23), 't'.repeat(24)]
    expect(configProblems({ ...production, ADMIN_TOKEN: `ann:${long},bob:${short}` })).to.deep.equal([
      { name: 'ADMIN_TOKEN', message: 'the token of entry 2 must have at least 24 characters in production' },
    ])
    expect(wrongVariables({ ...production, ADMIN_TOKEN: long })).to.deep.equal([])
    expect(wrongVariables({ ADMIN_TOKEN: short }), 'in development').to.deep.equal([])
  })

  it('can be declared lost by their ids, unless DATA_KEYS has them', () => {
    const lost = (LOST_DATA_KEYS: string) => readConfig({ ...secrets, LOST_DATA_KEYS }, []).lostDataKeys
    expect(readConfig(secrets, []).lostDataKeys).to.deep.equal([])
    expect(lost('2025a, 2026a')).to.deep.equal(['2025a', '2026a'])
    for (const bad of ['d', 'x,d', 'a,', 'a b', `a:${base64Key(32)}`])
      expect(wrongVariables({ ...secrets, LOST_DATA_KEYS: bad }), bad).to.deep.equal(['LOST_DATA_KEYS'])
  })

  it('are never repeated in a refusal', () => {
    const planted = fc.stringMatching(/^[A-Za-z0-9+/]{12,60}$/)
    fc.assert(
      fc.property(planted, fc.constantFrom('x:', 'x:!', '', 'x:AA,x:', 'a b:'), (secret, before) => {
        const text = `${secret}:${secret},${before}${secret} ${secret}`
        const url = `redis://user:${secret}@h.test`
        const keys = { CODE_SECRETS: text, DATA_KEYS: text, LOST_DATA_KEYS: text, ADMIN_TOKEN: text }
        const env = { ...keys, MONGODB_URL: url, AMQP_URL: url }
        expect(wrongVariables(env)).to.include.members(Object.keys(env))
        expect(JSON.stringify(configProblems(env))).not.to.contain(secret)
      }),
    )
  })
})

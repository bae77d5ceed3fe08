import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { createKeyring, type Keyring } from '../../../../infra/crypto/keyring.ts'
import { StartProblem } from '../../../../infra/start-problem.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { checkKeys } from '../../../../services/domain/privacy/canary.ts'
import { eachStore } from '../../../support/stores.ts'

eachStore('the keys a process was started with', fresh => {
  const named = (id: string) => ({ id, key: randomBytes(32) })
  const [first, second, wrong] = [named('first'), named('second'), named('first')]
  const keys = (...dataKeys: (typeof first)[]) =>
    createKeyring({ dataKeys, codeSecrets: [{ id: 'c', key: Buffer.alloc(32) }] })

  /** What a person is told; null when they fit. */
  const problem = async (store: CountersignStore, keyring: Keyring, more = {}): Promise<string | null> =>
    checkKeys({ store, keyring, ...more }).then(
      () => null,
      error => {
        expect(error).to.be.instanceOf(StartProblem)
        return error.message
      },
    )

  it('fit the store they were first used with, and no other keys do, whatever their names', async () => {
    const store = await fresh()
    expect(await problem(store, keys(first))).to.equal(null)
    expect(await problem(store, keys(second))).to.be.a('string')
    expect(await problem(store, keys(wrong))).to.be.a('string')
    expect(await problem(store, keys(first))).to.equal(null)
  })

  it('may be rotated by those who start at any moment of it: the new one last, first, alone', async () => {
    const store = await fresh()
    const rotation = [keys(first), keys(first, second), keys(second, first), keys(first, second), keys(second, first)]
    for (const given of [...rotation, keys(second)]) expect(await problem(store, given)).to.equal(null)
    expect(await problem(store, keys(first)), 'not back to the old one alone').to.be.a('string')
  })

  it('are named by the setting to change and the key to give, and no secret is told', async () => {
    const store = await fresh()
    await problem(store, keys(first))
    const missing = await problem(store, keys(second))
    expect(missing).to.match(/^DATA_KEYS: .*"first".*not among those given \(second\).*LOST_DATA_KEYS=first/)
    const mistaken = await problem(store, keys(wrong))
    expect(mistaken).to.match(/^DATA_KEYS: .*"first".*another.*another id.*LOST_DATA_KEYS=first/)
    const made = await problem(store, keys(second), { source: '/data' })
    expect(made).to.include('DATA_KEYS is not set: the keys come from /data')
    for (const { key } of [first, second, wrong])
      for (const told of [missing, mistaken, made]) {
        expect(told).to.not.include(key.toString('base64').slice(0, 12))
        expect(told).to.not.include(key.toString('base64url').slice(0, 12))
      }
  })

  it('are believed when the one that is missing is given up for lost; then the store is theirs', async () => {
    const store = await fresh()
    await problem(store, keys(first))
    expect(await problem(store, keys(second), { lost: ['other'] })).to.be.a('string')
    expect(await problem(store, keys(second), { lost: ['first'] })).to.equal(null)
    expect(await problem(store, keys(second))).to.equal(null)
    expect(await problem(store, keys(first))).to.be.a('string')
  })

  it('of many that start at once on an empty store are those of one of them', async () => {
    const store = await fresh()
    const all = Array.from({ length: 10 }, (_, nth) => keys(named(`k${nth}`)))
    const told = await Promise.all(all.map(one => problem(store, one)))
    expect(told.filter(one => one === null)).to.have.length(1)
  })
})

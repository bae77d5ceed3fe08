import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { createKeyring, type Keyring } from '../../../../infra/crypto/keyring.ts'
import { StartProblem } from '../../../../infra/start-problem.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { type CanaryDeps, checkKeys } from '../../../../services/domain/privacy/canary.ts'
import { eachStore } from '../../../support/stores.ts'

const MONGODB = { setting: 'MONGODB_URL', deletable: null } as const
const DEVELOPMENT = { setting: 'DATA_DIR', deletable: '/home/ann/.data' } as const

eachStore('the data keys of a process', fresh => {
  let store: CountersignStore
  beforeEach(async () => {
    store = await fresh()
  })
  const createKey = (id: string) => ({ id, key: randomBytes(32) })
  const [first, second, wrong] = [createKey('first'), createKey('second'), createKey('first')]
  const keyringOf = (...dataKeys: (typeof first)[]) =>
    createKeyring({ dataKeys, codeSecrets: [{ id: 'c', key: Buffer.alloc(32) }] })

  /** The message of the problem that `checkKeys` rejects with; null when the keys fit. */
  const startProblem = async (
    keyring: Keyring,
    more: Partial<Pick<CanaryDeps, 'lostKeyIds' | 'source' | 'place'>> = {},
  ): Promise<string | null> =>
    checkKeys({ store, keyring, place: MONGODB, ...more }).then(
      () => null,
      error => {
        expect(error).to.be.instanceOf(StartProblem)
        return error.message
      },
    )

  it('fit the store they were first used with, and other keys of the same name do not', async () => {
    expect(await startProblem(keyringOf(first))).to.equal(null)
    expect(await startProblem(keyringOf(second))).to.be.a('string')
    expect(await startProblem(keyringOf(wrong))).to.be.a('string')
    expect(await startProblem(keyringOf(first))).to.equal(null)
  })

  it('are not even tried on a store that another release wrote', async () => {
    await startProblem(keyringOf(first))
    await store.docs('canaries').modify({ _id: 'data_keys' }, { $unset: { format: true } })
    expect(await startProblem(keyringOf(first))).to.match(
      /^MONGODB_URL: another release has written this store.*or name another database in MONGODB_URL$/,
    )
    const place = { setting: 'DATA_DIR', deletable: null } as const
    expect(await startProblem(keyringOf(first), { place })).to.match(/ or set DATA_DIR to an empty folder$/)
    expect(await startProblem(keyringOf(first), { place: DEVELOPMENT })).to.match(
      /^DATA_DIR: .*Delete the data folder to start over: \/home\/ann\/\.data$/,
    )
  })

  it('say that the data folder may be deleted only where it is that of a development system', async () => {
    await startProblem(keyringOf(first))
    const remedy = 'Delete the data folder to start over: /home/ann/.data'
    expect(await startProblem(keyringOf(second), { place: DEVELOPMENT })).to.contain(remedy)
    expect(await startProblem(keyringOf(second))).not.to.contain('Delete')
  })

  it('fit at every step of a rotation: the new key last, then first, then alone', async () => {
    const rotation = [
      keyringOf(first),
      keyringOf(first, second),
      keyringOf(second, first),
      keyringOf(first, second),
      keyringOf(second, first),
    ]
    for (const given of [...rotation, keyringOf(second)]) expect(await startProblem(given)).to.equal(null)
    expect(await startProblem(keyringOf(first)), 'not back to the old one alone').to.be.a('string')
  })

  it('are refused with the setting to change and the id of the missing key, and without any secret', async () => {
    await startProblem(keyringOf(first))
    const missing = await startProblem(keyringOf(second))
    expect(missing).to.match(/^DATA_KEYS: .*"first".*not among those given \(second\).*LOST_DATA_KEYS=first/)
    const mistaken = await startProblem(keyringOf(wrong))
    expect(mistaken).to.match(/^DATA_KEYS: .*"first".*another.*another id.*LOST_DATA_KEYS=first/)
    const made = await startProblem(keyringOf(second), { source: '/data' })
    expect(made).to.include('DATA_KEYS is not set: the keys come from /data')
    for (const { key } of [first, second, wrong])
      for (const told of [missing, mistaken, made]) {
        expect(told).to.not.include(key.toString('base64').slice(0, 12))
        expect(told).to.not.include(key.toString('base64url').slice(0, 12))
      }
  })

  it('fit once the missing key is given up for lost, and from then on the missing key does not', async () => {
    await startProblem(keyringOf(first))
    expect(await startProblem(keyringOf(second), { lostKeyIds: ['other'] })).to.be.a('string')
    expect(await startProblem(keyringOf(second), { lostKeyIds: ['first'] })).to.equal(null)
    expect(await startProblem(keyringOf(second))).to.equal(null)
    expect(await startProblem(keyringOf(first))).to.be.a('string')
  })

  it('of only one process fit when many start at once on an empty store with keys of their own', async () => {
    const all = Array.from({ length: 10 }, (_, nth) => keyringOf(createKey(`k${nth}`)))
    const told = await Promise.all(all.map(one => startProblem(one)))
    expect(told.filter(one => one === null)).to.have.length(1)
  })
})

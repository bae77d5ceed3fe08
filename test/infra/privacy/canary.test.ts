import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { createKeyring } from '../../../infra/crypto/keyring.ts'
import { keysFit } from '../../../infra/privacy/canary.ts'
import { eachStore } from '../../support/stores.ts'

eachStore('the keys a process was started with', fresh => {
  const named = (id: string) => ({ id, key: randomBytes(32) })
  const [first, second, wrong] = [named('first'), named('second'), named('first')]
  const keys = (...dataKeys: (typeof first)[]) =>
    createKeyring({ dataKeys, codeSecrets: [{ id: 'c', key: Buffer.alloc(32) }] })

  it('fit the store they were first used with, and no other keys do, whatever their names', async () => {
    const store = await fresh()
    expect(await keysFit(store, keys(first))).to.equal(true)
    expect(await keysFit(store, keys(second))).to.equal(false)
    expect(await keysFit(store, keys(wrong))).to.equal(false)
    expect(await keysFit(store, keys(first))).to.equal(true)
  })

  it('may be rotated: the new one first, then the new one alone; not back to the old one alone', async () => {
    const store = await fresh()
    for (const given of [keys(first), keys(second, first), keys(second)])
      expect(await keysFit(store, given)).to.equal(true)
    expect(await keysFit(store, keys(first))).to.equal(false)
  })
})

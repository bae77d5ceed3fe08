import { expect } from 'chai'
import { freshNumber } from '../support/flow.ts'
import { describeFlowOnce } from '../support/shared-flow.ts'

describeFlowOnce('the last use of an API key', flow => {
  it('is shown to the minute, and not before the key was used', async () => {
    const { app } = await flow.createTenant()
    const [key, unusedKey] = [await flow.createKey(app, 'server'), await flow.createKey(app, 'server')]
    const lastUseOf = async ({ id }: { id: string }): Promise<string | null> => {
      const { items } = (await flow.admin('GET', `/apps/${app}/keys`)).body
      return items.find((shown: { id: string }) => shown.id === id).last_used_at
    }
    expect(await lastUseOf(key)).to.equal(null)
    const from = flow.clock.now()
    await key.send(freshNumber())
    const until = flow.clock.now()
    // The shared Countersign may have written a moment ago: the next write follows within a minute.
    await flow.advance(61_000)
    await flow.eventually(async () => {
      const lastUse = await lastUseOf(key)
      expect(lastUse).to.match(/:00\.000Z$/)
      expect(Date.parse(String(lastUse))).to.be.within(from - 60_000, until)
    })
    expect(await lastUseOf(unusedKey)).to.equal(null)
  })
})

// The prices of a send: a scheduled one holds from its time on, in every process that has read it, whenever that was. And what a balance
// must have for a link by which WhatsApp answers.
import { expect } from 'chai'
import type { Otp, Prices } from '../../../machines/otp.ts'
import { type Price, savePrices } from '../../../services/domain/money/prices.ts'
import { createFunds } from '../../../services/otp/funds.ts'
import { testClock } from '../../support/clock.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

onEmbeddedStore('the prices of a send', fresh => {
  it('are those of its time, in each process, although the list was read before', async () => {
    const [store, clock] = [await fresh(), testClock()]
    const change = clock.now() + 1_000
    const now: Price = { channel: 'sms', country: 'GB', micros: 40 }
    const docs = store.docs('prices')
    await savePrices(docs, undefined, [{ ...now, micros: 50, effective_at: change }, now])
    const accounts = { enter: expect.fail, balance: expect.fail, confirmHold: expect.fail } as never
    const processes = [1, 2].map(() => createFunds({ accounts, prices: docs, clock }))
    const pricesNow = () =>
      Promise.all(processes.map(funds => funds.pricesFor({ app_id: 'app_1', mode: 'live' }, { country: 'GB' })))
    expect(await pricesNow()).to.deep.equal([{ sms: 40 }, { sms: 40 }])
    await clock.advance(999)
    expect(await pricesNow()).to.deep.equal([{ sms: 40 }, { sms: 40 }])
    await clock.advance(1)
    expect(await pricesNow()).to.deep.equal([{ sms: 50 }, { sms: 50 }])
  })
})

describe('the balance for a link of WhatsApp', () => {
  it('must pay the reply that has the code, at its own price, and nothing where no reply is sent', async () => {
    const balanceIs = (balance: number) => {
      const accounts = { enter: expect.fail, balance: async () => balance, confirmHold: expect.fail } as never
      return createFunds({ accounts, prices: { get: expect.fail } as never, clock: testClock() })
    }
    const refusalAt = async (balance: number, whatsapp: 'link_code' | 'link_inbound', prices: Prices) =>
      (await balanceIs(balance).checkBalance({ company_id: 'cmp_1', whatsapp } as Otp, prices)).refusal?.error
    const prices = { whatsapp: 900, reply: 50 }
    expect(await refusalAt(49, 'link_code', prices)).to.equal('InsufficientFundsError')
    expect(await refusalAt(50, 'link_code', prices)).to.equal(undefined)
    expect(await refusalAt(0, 'link_code', { whatsapp: 900 }), 'a reply without a price').to.equal(undefined)
    expect(await refusalAt(0, 'link_inbound', prices)).to.equal(undefined)
  })
})

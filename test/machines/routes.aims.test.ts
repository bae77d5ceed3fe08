// What learned routes are for, in a short simulation. `npm run bench -- routes` is the long one.
import { expect } from 'chai'
import { countAlarms, type Policy, play, playSilence } from '../bench/routes.simulation.ts'

describe('learned routes, simulated', () => {
  it('lose at most 5 % of the approvals while they learn that the second provider is better', () => {
    const country = {
      providers: [
        { name: 'first', conversion: 0.5 },
        { name: 'second', conversion: 0.8 },
      ],
      perDay: 1_000,
    }
    const approvals = (policy: Policy) => play({ country, policy, seed: 1, messages: 2_000, days: 5 }).approvals
    expect(approvals('best') / approvals('oracle')).to.be.at.least(0.95)
  })

  for (const { usual, judged } of [
    { usual: 0.8, judged: 30 },
    { usual: 0.5, judged: 60 },
  ])
    it(`notice a provider that falls silent within ${judged} judged messages where its usual is ${100 * usual} %, and its recovery`, () => {
      for (const seed of [1, 2]) {
        const { noticed, recovered } = playSilence({ usual, perMinute: 10, policy: 'listed', seed })
        expect(noticed?.judged).to.be.at.most(judged)
        expect(recovered?.minutes).to.be.at.most(120)
      }
    })

  it('raise no alarm over two weeks of days, nights and weekends', () => {
    const alarms = countAlarms({ perMinute: 10, rivalShare: 0, countries: [0.8, 0.5], days: 14, seed: 1 })
    expect(alarms).to.equal(0)
  })
})

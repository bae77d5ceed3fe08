// Challenges without the calls around them: what the guard is asked and told, calls that are delivered twice, and data keys that rotate.
import { expect } from 'chai'
import { solveChallenge } from '../../../../clients/typescript/src/challenge-solver.ts'
import type { Keyring } from '../../../../infra/crypto/keyring.ts'
import { createMetrics } from '../../../../infra/metrics.ts'
import type { Identity } from '../../../../machines/calls.ts'
import {
  CHALLENGE_LIFE_MS,
  type CheckedToken,
  EASIEST_DIFFICULTY,
  HARDEST_DIFFICULTY,
} from '../../../../machines/challenge.ts'
import type { ChallengeNeed } from '../../../../machines/fraud.challenge.ts'
import type { AppSettings } from '../../../../machines/settings.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { resolveSettings } from '../../../../services/domain/tenancy/settings.ts'
import {
  type ChallengedCall,
  type ChallengeResult,
  createChallenges,
} from '../../../../services/otp/calls/challenges.ts'
import type { ChallengeNeedInput } from '../../../../services/otp/fraud/guard.ts'
import { type TestClock, testClock } from '../../../support/clock.ts'
import { hardestSolution } from '../../../support/hardest-challenge.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { testKeyring } from '../../../support/tenancy.ts'

const LIVE: Identity = { company_id: 'cmp_a', app_id: 'app_a', mode: 'live', key_id: 'key_a', kind: 'publishable' }
const RISKY: ChallengeNeed = { asked: true, pressure: 0 }
const HARMLESS: ChallengeNeed = { asked: false, pressure: 0 }

onEmbeddedStore('challenges', fresh => {
  let store: CountersignStore
  let clock: TestClock
  let need: ChallengeNeed
  let asked: ChallengeNeedInput[]
  beforeEach(async () => {
    store = await fresh()
    clock = testClock()
    need = RISKY
    asked = []
  })

  const metrics = createMetrics()
  const challenges = (keyring: Keyring = testKeyring()) =>
    createChallenges({
      keyring,
      clock,
      spent: store.docs('spent_challenges'),
      guard: {
        async challengeNeed(input) {
          asked.push(input)
          return { ...need, evidence: null }
        },
      },
      metrics,
    })
  let commands = 0
  const call = (
    more: Partial<ChallengedCall> = {},
    publishable_challenge: AppSettings['publishable_challenge'] = 'risk',
  ) => {
    commands += 1
    return {
      command_id: `command ${commands}`,
      by: LIVE,
      app: { settings: resolveSettings({ publishable_send: true, publishable_challenge }) },
      otp_id: null,
      recipient: () => '+447911123456',
      address: null,
      solution: undefined,
      token: undefined,
      ...more,
    }
  }
  function challengeIn({ refusal }: ChallengeResult) {
    expect(refusal).to.include({ kind: 'refused', error: 'ChallengeRequiredError' })
    if (refusal?.challenge?.type !== 'pow') throw new Error('it has no proof of work')
    return refusal.challenge
  }
  function solve(result: ChallengeResult): string {
    const { salt, difficulty, signature } = challengeIn(result)
    return `${salt}.${solveChallenge(salt, difficulty)}.${signature}`
  }

  it('are asked for in mode risk when the guard asks, of live keys only', async () => {
    const address = { value: '8.8.8.8', reputation: 'unknown' as const }
    const { check } = challenges()
    challengeIn(await check(call({ address })))
    expect(asked).to.have.length(1)
    expect(asked[0]).to.deep.include({ by: LIVE, recipient: '+447911123456', address })
    need = HARMLESS
    expect((await check(call())).refusal).to.equal(undefined)
    expect((await check(call({ solution: 'anything' }))).refusal, 'not of a bad solution').to.equal(undefined)

    need = RISKY
    asked = []
    const spared = [
      call({ by: { ...LIVE, mode: 'test' } }),
      call({ by: { ...LIVE, kind: 'server' } }, 'always'),
      call({}, 'off'),
    ]
    for (const one of spared) expect((await check(one)).refusal).to.equal(undefined)
    expect(asked, 'the guard is not asked in vain').to.deep.equal([])
  })

  it('are asked for in mode always, whatever the guard says, and of test keys at the lowest difficulty', async () => {
    const { check } = challenges()
    need = { asked: false, pressure: 0.5 }
    expect(challengeIn(await check(call({}, 'always'))).difficulty).to.equal(21)
    expect(challengeIn(await check(call({ by: { ...LIVE, mode: 'test' } }, 'always'))).difficulty).to.equal(16)
    expect(asked).to.have.length(1)
  })

  it('are as hard as the guard says, and a solution counts at what is asked for now, less two bits', async () => {
    const { check } = challenges()
    const solution = solve(await check(call()))
    const pressureOf = (bits: number): number => (bits - EASIEST_DIFFICULTY) / (HARDEST_DIFFICULTY - EASIEST_DIFFICULTY)
    need = { asked: true, pressure: 1 }
    expect(challengeIn(await check(call())).difficulty).to.equal(HARDEST_DIFFICULTY)
    challengeIn(await check(call({ solution })))
    need = { asked: true, pressure: pressureOf(EASIEST_DIFFICULTY + 3) }
    challengeIn(await check(call({ solution })))
    need = { asked: true, pressure: pressureOf(EASIEST_DIFFICULTY + 2) }
    const served = await check(call({ solution }))
    expect(served.refusal, 'it was not spent by what refused it').to.equal(undefined)
    expect(served.solvedHardest).to.equal(false)
    await served.undo()
    need = { asked: false, pressure: 1 }
    expect((await check(call({ solution }))).refusal, 'where none is asked for').to.equal(undefined)
  })

  it('solved at the highest difficulty are reported so', async () => {
    const keyring = testKeyring()
    const { check } = challenges(keyring)
    const solution = hardestSolution(keyring, LIVE.key_id, 'send', '+447911123456')
    const wrong = solution.replace(/\.\d+\./, '.1.')
    challengeIn(await check(call({ solution: wrong })))
    const served = await check(call({ solution }))
    expect(served.refusal).to.equal(undefined)
    expect(served.solvedHardest).to.equal(true)
  })

  describe('of an app with the widget of a vendor', () => {
    const widget = { by: 'turnstile', site_key: 'site', secret: 'hmac:AAAAAAAA' } as const
    const settings = resolveSettings({
      publishable_send: true,
      allowed_origins: ['https://shop.example'],
      challenge: widget,
    })
    const asked = { type: 'turnstile', site_key: 'site' }
    const bringing = (outcome: CheckedToken['outcome'], id = 'a token') =>
      call({ app: { settings }, token: { id, outcome } })

    it('are its site key, until a token has passed, which is good once', async () => {
      const { check } = challenges()
      expect((await check(call({ app: { settings } }))).refusal?.challenge).to.deep.equal(asked)
      for (const outcome of ['refused', 'other_host'] as const)
        expect((await check(bringing(outcome))).refusal?.challenge).to.deep.equal(asked)
      const served = await check(bringing('passed'))
      expect(served.refusal).to.equal(undefined)
      expect(served.solvedHardest).to.equal(false)
      expect((await check(bringing('passed'))).refusal?.challenge, 'used').to.deep.equal(asked)
      need = { asked: true, pressure: 1 }
      expect((await check(bringing('passed', 'another'))).solvedHardest, 'there is no harder one').to.equal(true)
    })

    it('are a proof of work where the vendor did not answer, at the difficulty of the moment', async () => {
      const { check } = challenges()
      const silent = await check(bringing('unchecked'))
      expect(challengeIn(silent).difficulty).to.equal(EASIEST_DIFFICULTY)
      const served = await check(call({ app: { settings }, solution: solve(silent) }))
      expect(served.refusal).to.equal(undefined)
      expect((await check(call({ app: { settings }, solution: 'anything' }))).refusal?.challenge).to.deep.equal(asked)
    })

    it('are a proof of work again once the app has gone back to it, whatever the edge has checked before', async () => {
      challengeIn(await challenges().check(call({ token: { id: 'a token', outcome: 'passed' } })))
    })
  })

  it('are good for five minutes', async () => {
    const { check } = challenges()
    const solution = solve(await check(call()))
    await clock.advance(CHALLENGE_LIFE_MS - 1)
    const served = await check(call({ solution }))
    expect(served.refusal).to.equal(undefined)
    await served.undo()
    await clock.advance(1)
    challengeIn(await check(call({ solution })))
  })

  it('are good once, and again when their call is refused', async () => {
    const { check } = challenges()
    const solution = solve(await check(call()))
    const both = await Promise.all([check(call({ solution })), check(call({ solution }))])
    const [served] = both.filter(({ refusal }) => refusal === undefined)
    expect(both.filter(({ refusal }) => refusal !== undefined)).to.have.length(1)
    await served?.undo()
    expect((await check(call({ solution }))).refusal).to.equal(undefined)
    challengeIn(await check(call({ solution })))
    const counted = (await metrics.challenges.get()).values.map(({ labels }) => `${labels.mode} ${labels.outcome}`)
    expect(new Set(counted)).to.include.all.keys('live asked', 'live solved', 'live rejected')
  })

  it('serve a call that is delivered twice, and are not given back by one of its deliveries', async () => {
    const { check } = challenges()
    const twice = call({ solution: solve(await check(call())) })
    const deliveries = [await check(twice), await check(twice)]
    for (const { refusal } of deliveries) expect(refusal).to.equal(undefined)
    for (const { undo } of deliveries) await undo()
    challengeIn(await check({ ...twice, command_id: 'another' }))
  })

  it('of a resend are for its verification, those of a send for its recipient however it is spelled', async () => {
    const { check } = challenges()
    const [one, other] = ['otp_1', 'otp_2'].map(otp_id => ({ otp_id }))
    const ofResend = solve(await check(call(one)))
    challengeIn(await check(call({ ...other, solution: ofResend })))
    challengeIn(await check(call({ solution: ofResend })))
    expect((await check(call({ ...one, solution: ofResend }))).refusal).to.equal(undefined)

    const ofSend = solve(await check(call({ recipient: () => 'ada@example.com' })))
    challengeIn(await check(call({ recipient: () => 'eda@example.com', solution: ofSend })))
    challengeIn(await check(call({ by: { ...LIVE, key_id: 'key_b' }, solution: ofSend })))
    expect((await check(call({ recipient: () => 'Ada@example.com', solution: ofSend }))).refusal).to.equal(undefined)
  })

  it('that an older data key signed are good while it is configured', async () => {
    const solution = solve(await challenges(testKeyring(1)).check(call()))
    challengeIn(await challenges(testKeyring(2)).check(call({ solution })))
    expect((await challenges(testKeyring(2, 1)).check(call({ solution }))).refusal).to.equal(undefined)
  })
})

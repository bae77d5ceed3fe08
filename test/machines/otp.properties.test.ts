import { expect } from 'chai'
import fc from 'fast-check'
import { step } from '../../machines/otp.step.ts'
import type { Effect, WebhookEvent } from '../../machines/otp.ts'
import { type HistoryRun, type HistoryStep, histories, runHistory } from '../support/otp.arbitraries.ts'
import { expectInvariants } from '../support/otp.invariants.ts'

const always = (holds: (run: HistoryRun) => void) =>
  fc.assert(
    fc.property(histories, story => holds(runHistory(story))),
    { numRuns: 300 },
  )

const last = ({ started, steps }: HistoryRun) => steps.at(-1)?.after.saved ?? started.saved
const effectsOf = ({ started, steps }: HistoryRun): Effect[] =>
  [started, ...steps.map(({ after }) => after)].flatMap(one => one.effects)
const eventsOf = (run: HistoryRun): WebhookEvent[] =>
  effectsOf(run).flatMap(effect => (effect.type === 'notify' ? [effect.event] : []))

const matched = ({ after: { reply } }: HistoryStep): boolean => reply.kind === 'verified' && reply.matched
const wasCompared = ({ command, after }: HistoryStep): boolean =>
  command.type === 'otp.verify' && !command.right && after.changed

describe('whatever happens to a verification', () => {
  it('every step keeps every rule', () => {
    always(({ steps }) => {
      for (const { before, command, after } of steps) expectInvariants(before, command, after)
    })
  })

  it('no more wrong codes are compared than there are attempts, and none is right after the last', () => {
    always(run => {
      const { verify_attempts } = last(run).context.rules
      const compared = run.steps.filter(wasCompared)
      expect(compared.length).to.be.at.most(verify_attempts)
      expect(last(run).context.wrong_codes).to.equal(compared.length)
      const spent = compared[verify_attempts - 1]
      if (spent) expect(run.steps.slice(run.steps.indexOf(spent)).filter(matched)).to.deep.equal([])
    })
  })

  it('a code dies with its generation', () => {
    always(({ steps }) => {
      for (const chapter of steps) {
        expect(chapter.before.context.generation).to.equal(chapter.generation)
        if (matched(chapter) && chapter.action.does === 'guess')
          expect(chapter.action.code).to.equal(chapter.after.saved.context.generation)
      }
    })
  })

  it('a link dies with its generation', () => {
    always(({ started, steps }) => {
      const givenIn = new Map([[started.saved.context.link?.reference, 1]])
      for (const { command, before, after, generation } of steps) {
        const { link } = before.context
        if (link && !givenIn.has(link.reference)) givenIn.set(link.reference, generation)
        if (command.type === 'message.received' && after.changed)
          expect(givenIn.get(command.reference)).to.equal(generation)
      }
    })
  })

  it('it is approved once or never, and tells of its end once or never', () => {
    always(run => {
      const { value } = last(run)
      const ends = eventsOf(run).filter(event => event.startsWith('otp.'))
      const expected = value === 'approved' || value === 'failed' ? [`otp.${value}`] : []
      expect(ends).to.deep.equal(expected)
      const becameApproved = run.steps.filter(
        one => one.before.value !== 'approved' && one.after.saved.value === 'approved',
      )
      expect(becameApproved.length).to.equal(value === 'approved' ? 1 : 0)
    })
  })

  it('every delivery is asked for once, and its outcome told at most once', () => {
    always(run => {
      const effects = effectsOf(run)
      const asked = effects.flatMap(effect => (effect.type === 'deliver' ? [effect.id] : []))
      expect(asked).to.deep.equal(last(run).context.deliveries.map(one => one.delivery_id))
      const receipts = effects.flatMap(effect => (effect.type === 'notify' ? [effect.payload.delivery_id] : []))
      const outcomes = receipts.filter(id => id !== undefined)
      expect(new Set(outcomes).size).to.equal(outcomes.length)
    })
  })

  it('a plain resend keeps the code, a named channel makes a fresh one', () => {
    always(({ steps }) => {
      for (const { command, before, after } of steps) {
        if (command.type !== 'otp.resend' || after.reply.kind !== 'accepted') continue
        const fresh = after.saved.context.generation - before.context.generation
        expect(fresh).to.equal(command.requestedChannel === null ? 0 : 1)
        if (command.requestedChannel) expect(after.saved.context.channel).to.equal(command.requestedChannel)
      }
    })
  })

  it('the same step twice is the same outcome', () => {
    always(({ steps }) => {
      for (const { before, command, after } of steps) expect(step(before, command)).to.deep.equal(after)
    })
  })

  it('a command replayed at once is answered the same and changes nothing', () => {
    always(({ steps }) => {
      for (const { command, after } of steps) {
        const again = step(after.saved, command)
        expect(again.reply).to.deep.equal(after.reply)
        expect(again.saved).to.equal(after.saved)
        expect([again.changed, again.effects]).to.deep.equal([false, []])
      }
    })
  })

  it('the stories are worth telling: they end in every way there is', () => {
    const run = fc.sample(histories, { seed: 7, numRuns: 300 }).map(runHistory)
    const ends = new Set(run.map(story => last(story).value))
    expect([...ends]).to.have.members(['pending', 'approved', 'failed', 'expired', 'canceled'])
    const replies = new Set(run.flatMap(({ steps }) => steps.map(({ after }) => after.reply.kind)))
    expect([...replies]).to.have.members(['accepted', 'verified', 'exchanged', 'noted', 'refused', 'no_such_token'])
    const approvals = run.flatMap(story => last(story).context.approval ?? [])
    expect(
      approvals.some(({ by }) => by === null),
      'by message',
    ).to.equal(true)
    expect(
      approvals.some(({ generation }) => generation > 1),
      'by a fresh code',
    ).to.equal(true)
  })
})

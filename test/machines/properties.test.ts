import { expect } from 'chai'
import fc from 'fast-check'
import { step } from '../../machines/otp.step.ts'
import type { Effect, WebhookEvent } from '../../machines/otp.ts'
import { expectSound } from '../support/otp.invariants.ts'
import { type Chapter, stories, type Told, tell } from '../support/otp.stories.ts'

const always = (holds: (told: Told) => void) =>
  fc.assert(
    fc.property(stories, story => holds(tell(story))),
    { numRuns: 300 },
  )

const last = ({ begun, chapters }: Told) => chapters.at(-1)?.after.saved ?? begun.saved
const effectsOf = ({ begun, chapters }: Told): Effect[] =>
  [begun, ...chapters.map(({ after }) => after)].flatMap(one => one.effects)
const eventsOf = (told: Told): WebhookEvent[] =>
  effectsOf(told).flatMap(effect => (effect.type === 'notify' ? [effect.event] : []))

const matched = ({ after: { reply } }: Chapter): boolean => reply.kind === 'verified' && reply.matched
const wasCompared = ({ command, after }: Chapter): boolean =>
  command.type === 'otp.verify' && !command.right && after.changed

describe('whatever happens to a verification', () => {
  it('every step keeps every rule', () => {
    always(({ chapters }) => {
      for (const { before, command, after } of chapters) expectSound(before, command, after)
    })
  })

  it('no more wrong codes are compared than there are attempts, and none is right after the last', () => {
    always(told => {
      const { verify_attempts } = last(told).context.rules
      const compared = told.chapters.filter(wasCompared)
      expect(compared.length).to.be.at.most(verify_attempts)
      expect(last(told).context.wrong_codes).to.equal(compared.length)
      const spent = compared[verify_attempts - 1]
      if (spent) expect(told.chapters.slice(told.chapters.indexOf(spent)).filter(matched)).to.deep.equal([])
    })
  })

  it('a code dies with its generation', () => {
    always(({ chapters }) => {
      for (const chapter of chapters) {
        expect(chapter.before.context.generation).to.equal(chapter.generation)
        if (matched(chapter) && chapter.deed.does === 'guess')
          expect(chapter.deed.code).to.equal(chapter.after.saved.context.generation)
      }
    })
  })

  it('a link dies with its generation', () => {
    always(({ begun, chapters }) => {
      const givenIn = new Map([[begun.saved.context.link?.reference, 1]])
      for (const { command, before, after, generation } of chapters) {
        const { link } = before.context
        if (link && !givenIn.has(link.reference)) givenIn.set(link.reference, generation)
        if (command.type === 'message.received' && after.changed)
          expect(givenIn.get(command.reference)).to.equal(generation)
      }
    })
  })

  it('it is approved once or never, and tells of its end once or never', () => {
    always(told => {
      const { value } = last(told)
      const ends = eventsOf(told).filter(event => event.startsWith('otp.'))
      const expected = value === 'approved' || value === 'failed' ? [`otp.${value}`] : []
      expect(ends).to.deep.equal(expected)
      const becameApproved = told.chapters.filter(
        one => one.before.value !== 'approved' && one.after.saved.value === 'approved',
      )
      expect(becameApproved.length).to.equal(value === 'approved' ? 1 : 0)
    })
  })

  it('every delivery is asked for once, and its outcome told at most once', () => {
    always(told => {
      const effects = effectsOf(told)
      const asked = effects.flatMap(effect => (effect.type === 'deliver' ? [effect.id] : []))
      expect(asked).to.deep.equal(last(told).context.deliveries.map(one => one.delivery_id))
      const receipts = effects.flatMap(effect => (effect.type === 'notify' ? [effect.payload.delivery_id] : []))
      const outcomes = receipts.filter(id => id !== undefined)
      expect(new Set(outcomes).size).to.equal(outcomes.length)
    })
  })

  it('a plain resend keeps the code, a named channel makes a fresh one', () => {
    always(({ chapters }) => {
      for (const { command, before, after } of chapters) {
        if (command.type !== 'otp.resend' || after.reply.kind !== 'accepted') continue
        const fresh = after.saved.context.generation - before.context.generation
        expect(fresh).to.equal(command.named === null ? 0 : 1)
        if (command.named) expect(after.saved.context.channel).to.equal(command.named)
      }
    })
  })

  it('the same step twice is the same outcome', () => {
    always(({ chapters }) => {
      for (const { before, command, after } of chapters) expect(step(before, command)).to.deep.equal(after)
    })
  })

  it('a command replayed at once is answered the same and changes nothing', () => {
    always(({ chapters }) => {
      for (const { command, after } of chapters) {
        const again = step(after.saved, command)
        expect(again.reply).to.deep.equal(after.reply)
        expect(again.saved).to.equal(after.saved)
        expect([again.changed, again.effects]).to.deep.equal([false, []])
      }
    })
  })

  it('the stories are worth telling: they end in every way there is', () => {
    const told = fc.sample(stories, { seed: 7, numRuns: 300 }).map(tell)
    const ends = new Set(told.map(story => last(story).value))
    expect([...ends]).to.have.members(['pending', 'approved', 'failed', 'expired', 'canceled'])
    const replies = new Set(told.flatMap(({ chapters }) => chapters.map(({ after }) => after.reply.kind)))
    expect([...replies]).to.have.members(['accepted', 'verified', 'exchanged', 'noted', 'refused', 'no_such_token'])
    const approvals = told.flatMap(story => last(story).context.approval ?? [])
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

import { expect } from 'chai'
import fc from 'fast-check'
import { statusAt } from '../../machines/otp.code-life.ts'
import { approvedId, idsOf, ownEnd, statusOf, triesOf } from '../../machines/otp.ids.ts'
import { attemptsLeft, sendsLeft } from '../../machines/otp.queries.ts'
import { step } from '../../machines/otp.step.ts'
import type { Delivery, Effect } from '../../machines/otp.ts'
import { expectSame } from '../support/expect-same.ts'
import { type HistoryRun, type HistoryStep, histories, runHistory } from '../support/otp.arbitraries.ts'
import { expectInvariants } from '../support/otp.invariants.ts'
import { device, exchange, issued, MINUTE, otherDevice, play, right, T0, wrong } from '../support/otp.ts'
import { propertyRuns } from '../support/property-runs.ts'

const always = (holds: (run: HistoryRun) => void) =>
  fc.assert(
    fc.property(histories, history => holds(runHistory(history))),
    { numRuns: propertyRuns(100) },
  )

const last = ({ started, steps }: HistoryRun) => steps.at(-1)?.after.saved ?? started.saved
const effectsOf = ({ started, steps }: HistoryRun): Effect[] =>
  [started, ...steps.map(({ after }) => after)].flatMap(one => one.effects)
const isSent = ({ status }: Delivery): boolean => status === 'sent' || status === 'delivered'
const matched = ({ after: { reply } }: HistoryStep): boolean => reply.kind === 'verified' && reply.matched
const wasCompared = ({ command, after }: HistoryStep): boolean =>
  command.type === 'otp.verify' && !command.right && after.changed

describe('in every history of a verification', () => {
  it('every step keeps the invariants', () => {
    always(({ steps }) => {
      for (const { before, command, after } of steps) expectInvariants(before, command, after)
    })
  })

  it('at most verify_attempts wrong codes are compared under each id, and none matches there after the last', () => {
    always(run => {
      const { context } = last(run)
      const { verify_attempts } = context.rules
      for (const id of idsOf(context)) {
        const steps = run.steps.filter(({ command }) => command.type === 'otp.verify' && command.otp_id === id)
        const compared = steps.filter(wasCompared)
        expect(compared.length).to.be.at.most(verify_attempts)
        expect(triesOf(context, id).wrong_codes).to.equal(compared.length)
        const spent = compared[verify_attempts - 1]
        if (spent) expect(steps.slice(steps.indexOf(spent)).filter(matched)).to.deep.equal([])
      }
    })
  })

  // Each id costs a send of its recipient (`quotaOfStart`), as each verification does that nothing joins. So the bound
  // on guesses for a recipient in a day, sends × verify_attempts, is the same whether sends join or not.
  it('all ids together compare at most verify_attempts wrong codes for each send that was accepted', () => {
    always(run => {
      const sends = 1 + run.steps.filter(({ action, after }) => action.does === 'join' && after.changed).length
      const { verify_attempts } = last(run).context.rules
      expect(run.steps.filter(wasCompared).length).to.be.at.most(sends * verify_attempts)
      expect(idsOf(last(run).context).length).to.equal(sends)
    })
  })

  it('one id is approved at most, which is the one whose code was entered; the others never are', () => {
    always(run => {
      const approvals = effectsOf(run).flatMap(one =>
        one.type === 'notify' && one.event === 'otp.approved' ? [one.payload.otp_id] : [],
      )
      expect(approvals.length).to.be.at.most(1)
      for (const { command } of run.steps.filter(matched))
        expect(command.type === 'otp.verify' && command.otp_id).to.equal(approvals[0])
      const { value, context } = last(run)
      const approved = idsOf(context).filter(
        id => statusOf(value, context, last(run).context.expires_at, id) === 'approved',
      )
      expect(approved).to.deep.equal(approvals)
    })
  })

  it('what is guessed under other ids takes no attempt from an id, and does not end it', () => {
    always(run => {
      for (const { before, command, after } of run.steps) {
        if (command.type !== 'otp.verify' || after.saved.value === 'approved') continue
        const others = idsOf(before.context).filter(id => id !== command.otp_id)
        for (const id of others) {
          expect(attemptsLeft(after.saved.context, id)).to.equal(attemptsLeft(before.context, id))
          expect(ownEnd(after.saved.context, id)).to.equal(ownEnd(before.context, id))
        }
      }
    })
  })

  it('no message is paid for twice, and one of a generation that was approved by its code is paid for', () => {
    always(run => {
      const { deliveries } = last(run).context
      const sum = (type: 'refund' | 'recharge', id: string): number =>
        effectsOf(run).reduce((all, effect) => {
          return effect.type === type && effect.delivery_id === id ? all + effect.micros : all
        }, 0)
      const paid = deliveries.map(one => {
        const { delivery_id, micros, generation } = one
        const micros_paid = micros - sum('refund', delivery_id) + sum('recharge', delivery_id)
        expect(micros_paid).to.be.oneOf([0, micros])
        return { generation, micros_paid }
      })
      const approval = run.steps.find(
        ({ before, after }) => before.value === 'pending' && after.saved.value === 'approved',
      )
      if (approval?.command.type !== 'otp.verify') return
      const { generation } = approval.before.context
      const approved = approval.before.context.deliveries.filter(one => one.generation === generation)
      // A message of a free channel that was sent may have brought the code. One that failed and that no provider had accepted did not.
      const cameFree = approved.some(one => one.micros === 0 && isSent(one))
      const mayHaveCome = approved.some(
        one => one.micros > 0 && (one.status !== 'failed' || one.provider !== undefined),
      )
      if (cameFree || !mayHaveCome) return
      const total = paid.filter(one => one.generation === generation).reduce((all, one) => all + one.micros_paid, 0)
      const cameFreeLater = deliveries.some(one => one.generation === generation && one.micros === 0 && isSent(one))
      if (!cameFreeLater) expect(total).to.be.above(0)
    })
  })

  it('a message that no provider took is charged again only where no other one that is paid for may bring the code', () => {
    always(run => {
      for (const { before, after } of run.steps) {
        const { deliveries, generation } = before.context
        for (const effect of after.effects) {
          if (effect.type !== 'recharge') continue
          const charged = deliveries.find(one => one.delivery_id === effect.delivery_id)
          const others = deliveries.filter(one => one.generation === generation && one.micros > 0)
          if (charged?.provider === undefined) expect(others.every(({ status }) => status === 'failed')).to.equal(true)
        }
      }
    })
  })

  it('a code matches only in its own generation', () => {
    always(({ steps }) => {
      for (const one of steps) {
        expect(one.before.context.generation).to.equal(one.generation)
        if (matched(one) && one.action.does === 'guess')
          expect(one.action.code).to.equal(one.after.saved.context.generation)
      }
    })
  })

  it('a link works only in its own generation', () => {
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

  it('it is approved at most once, and the end of each id causes at most one webhook event', () => {
    always(run => {
      const { value, context } = last(run)
      const ends = effectsOf(run).flatMap(one =>
        one.type === 'notify' && one.event.startsWith('otp.') ? [`${one.event} ${one.payload.otp_id}`] : [],
      )
      const approved = approvedId(context)
      const failed = idsOf(context).filter(id => triesOf(context, id).failed_at !== undefined)
      expect(ends).to.have.members([
        ...(approved === null ? [] : [`otp.approved ${approved}`]),
        ...failed.map(id => `otp.failed ${id}`),
      ])
      expect(value === 'approved').to.equal(approved !== null)
      const becameApproved = run.steps.filter(
        one => one.before.value !== 'approved' && one.after.saved.value === 'approved',
      )
      expect(becameApproved.length).to.equal(value === 'approved' ? 1 : 0)
    })
  })

  it('every delivery that was paid for causes one deliver effect, and every delivery at most one webhook event', () => {
    always(run => {
      const effects = effectsOf(run)
      const asked = effects.flatMap(effect => (effect.type === 'deliver' ? [effect.id] : []))
      const paid = last(run).context.deliveries.filter(({ reason }) => reason !== 'insufficient_funds')
      expect(asked).to.deep.equal(paid.map(one => one.delivery_id))
      const reported = effects.flatMap(effect =>
        effect.type === 'notify' && 'delivery_id' in effect.payload ? [effect.payload.delivery_id] : [],
      )
      expect(new Set(reported).size).to.equal(reported.length)
    })
  })

  it('a delivery has the reason of the report that made it fail, and no other', () => {
    always(({ steps }) => {
      const reasons = new Map<string, unknown>()
      for (const { command, before, after } of steps) {
        if (command.type !== 'delivery.reported' || command.status !== 'failed' || !after.changed) continue
        const { delivery_id, reason } = command
        const earlier = before.context.deliveries.find(one => one.delivery_id === delivery_id)
        if (earlier && earlier.status !== 'delivered' && !reasons.has(delivery_id)) reasons.set(delivery_id, reason)
      }
      for (const { delivery_id, reason } of steps.at(-1)?.after.saved.context.deliveries ?? [])
        if (reason !== 'insufficient_funds') expect(reason).to.equal(reasons.get(delivery_id))
    })
  })

  it('a resend without a named channel keeps the code, and one with a named channel makes a new code', () => {
    always(({ steps }) => {
      for (const { command, before, after } of steps) {
        if (command.type !== 'otp.resend' || after.reply.kind !== 'accepted') continue
        const newGenerations = after.saved.context.generation - before.context.generation
        expect(newGenerations).to.equal(command.requestedChannel === null ? 0 : 1)
        if (command.requestedChannel) expect(after.saved.context.channel).to.equal(command.requestedChannel)
      }
    })
  })

  it('a resend or verify that is not allowed says the true cause', () => {
    always(({ steps }) => {
      for (const { command, before, after } of steps) {
        if (after.reply.kind !== 'refused' || !after.reply.error.endsWith('NotAllowedError')) continue
        const { cause, otp_status } = after.reply
        const { context, value } = before
        const named = command.type === 'otp.resend' && !command.joins ? command.otp_id : undefined
        const status = named ? statusOf(value, context, command.at, named) : statusAt(value, context, command.at)
        if (command.type === 'otp.verify') {
          const byDevice = context.started_by.kind === 'publishable' && command.by.kind === 'server'
          expect(cause).to.equal(byDevice ? 'proved_by_exchange' : 'approved_by_message')
        } else if (command.type === 'otp.resend' && status === 'pending') {
          const isNamed = command.requestedChannel !== null
          const channelCause = isNamed ? `channel_${command.obstacle}` : 'no_usable_channel'
          expect(cause).to.equal(sendsLeft(context) === 0 ? 'send_attempts_spent' : channelCause)
        } else expect({ cause, otp_status }).to.deep.equal({ cause: 'not_pending', otp_status: status })
      }
    })
  })

  it('the same step twice has the same result', () => {
    always(({ steps }) => {
      for (const { before, command, after } of steps) expectSame(step(before, command), after)
    })
  })

  it('a command that is delivered again at once gets the same reply and changes nothing', () => {
    always(({ steps }) => {
      for (const { command, after } of steps) {
        const again = step(after.saved, command)
        expectSame(again.reply, after.reply)
        expect(again.saved).to.equal(after.saved)
        expectSame([again.changed, again.effects], [false, []])
      }
    })
  })

  it('every state and every kind of reply is reached by some history', () => {
    const runs = fc.sample(histories, { seed: 7, numRuns: 1_000 }).map(runHistory)
    const ends = new Set(runs.map(run => last(run).value))
    expect([...ends]).to.have.members(['pending', 'approved', 'failed', 'expired', 'canceled'])
    const replies = new Set(runs.flatMap(({ steps }) => steps.map(({ after }) => after.reply.kind)))
    expect([...replies]).to.have.members(['accepted', 'verified', 'exchanged', 'noted', 'refused', 'no_such_token'])
    const approvals = runs.flatMap(run => last(run).context.approval ?? [])
    expect(
      approvals.some(({ by }) => by === null),
      'by message',
    ).to.equal(true)
    expect(
      approvals.some(({ generation }) => generation > 1),
      'by a code of a later generation',
    ).to.equal(true)
  })
})

/** A verification that a device approved at some time of its life, and the same code again some time later. */
const repeats = fc.record({
  ttl_ms: fc.integer({ min: MINUTE, max: 60 * MINUTE }),
  /** How long before its end the code is approved. */
  leftMs: fc.oneof(fc.integer({ min: 1, max: 2 * MINUTE }), fc.integer({ min: 1, max: 60 * MINUTE })),
  laterMs: fc.oneof(
    fc.nat(2 * MINUTE),
    fc.integer({ min: -2, max: 2 }).map(about => MINUTE + about),
  ),
  wrongBefore: fc.nat(4),
  isExchanged: fc.boolean(),
  by: fc.constantFrom(device, otherDevice),
  isRight: fc.boolean(),
  isLocked: fc.boolean(),
})

describe('for every approved verification', () => {
  it('the code matches again only for the key that approved, within a minute, before expiry and exchange', () => {
    fc.assert(
      fc.property(repeats, ({ ttl_ms, leftMs, laterMs, wrongBefore, isExchanged, by, isRight, isLocked }) => {
        const pending = issued({ started_by: device, rules: { ttl_ms } })
        const { expires_at } = pending.context
        const approvedAt = Math.max(T0, expires_at - leftMs)
        const guesses = Array.from({ length: wrongBefore }, () => wrong({ by: device }))
        const approved = play(pending, ...guesses, right({ by: device, at: approvedAt })).saved
        const before = isExchanged ? play(approved, exchange()).saved : approved

        const at = approvedAt + laterMs
        const verify = isRight ? right : wrong
        const { reply, changed, saved } = play(before, verify({ by, at, locked_ms: isLocked ? 1 : null }))
        const mayRepeat = by === device && laterMs < MINUTE && at < expires_at && !isExchanged
        const isCompared = mayRepeat && !isLocked
        expect(reply.kind === 'verified' && reply.matched).to.equal(isCompared && isRight)
        expect(reply.kind === 'refused' && reply.error === 'RateLimitExceededError').to.equal(mayRepeat && isLocked)
        expect(changed, 'only a code that was compared is saved').to.equal(isCompared)
        expect(saved.context.wrong_codes).to.equal(wrongBefore + (isCompared && !isRight ? 1 : 0))
      }),
      { numRuns: propertyRuns(400) },
    )
  })
})

// Decides where the effects of a step are kept until they are published. In: the document before, the step, and whether its command comes
// again until it is settled. Out: effects for the outbox, and events that are remembered with the command. Pure.
import type { Step } from '../../machines/otp.step.ts'
import type { Effect, EventEffect } from '../../machines/otp.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'

export interface KeptEffects {
  inOutbox: Effect[]
  withCommand: EventEffect[]
  /** The step to save. */
  step: Step
}

export function keepEffects(before: Pick<OtpDoc, 'last_commands'>, next: Step, comesAgain: boolean): KeptEffects {
  const withCommand = comesAgain ? next.effects.filter(effect => effect.type === 'notify') : []
  const others = comesAgain ? next.effects.filter(effect => effect.type !== 'notify') : next.effects
  return {
    inOutbox: [...forgottenEvents(before, next), ...others],
    withCommand,
    step: withCommand.length === 0 ? next : withRememberedEvents(next, withCommand),
  }
}

/** The latest command is the one that made the step. */
function withRememberedEvents(next: Step, events: EventEffect[]): Step {
  const last_commands = [...next.saved.last_commands]
  const command = last_commands.pop()
  if (command) last_commands.push({ ...command, events })
  return { ...next, saved: { ...next.saved, last_commands } }
}

/** The events of commands that are forgotten with this change. They may not be published yet, so they move to the outbox, with the
 *  time and the trace of this change. */
function forgottenEvents(before: Pick<OtpDoc, 'last_commands'>, { saved }: Step): EventEffect[] {
  const remembered = new Set(saved.last_commands.map(({ id }) => id))
  return before.last_commands.flatMap(({ id, events = [] }) => (remembered.has(id) ? [] : events))
}

// The inert scope gives what xstate's own functions give. If an upgrade of xstate changes what a scope is, this fails first.
import { expect } from 'chai'
import { assign, type ExecutableActionObject, initialTransition, setup, transition } from 'xstate'
import { runTransition } from '../../machines/transition.ts'

const machine = setup({
  types: {} as { context: { sum: number }; events: { type: 'add'; by: number } },
  actions: { told: (_, _params: { sum: number }) => {} },
}).createMachine({
  context: { sum: 1 },
  initial: 'open',
  states: {
    open: {
      entry: { type: 'told', params: ({ context: { sum } }) => ({ sum }) },
      on: {
        add: {
          target: 'full',
          actions: [
            assign({ sum: ({ context, event }) => context.sum + event.by }),
            { type: 'told', params: ({ context: { sum } }) => ({ sum }) },
          ],
        },
      },
    },
    full: { type: 'final' },
  },
})

type Ran = [{ value: unknown; context: unknown; status: string }, ExecutableActionObject[]]

const seen = ([{ value, context, status }, actions]: Ran) => ({
  value,
  context,
  status,
  actions: actions.map(({ type, params }) => ({ type, params })),
})

describe('a transition in an inert scope', () => {
  it('starts as xstate does', () => {
    expect(seen(runTransition(scope => machine.getInitialSnapshot(scope)))).to.deep.equal(
      seen(initialTransition(machine)),
    )
  })

  it('steps as xstate does', () => {
    const state = machine.resolveState({ value: 'open', context: { sum: 4 } })
    const event = { type: 'add', by: 3 } as const
    const ours = seen(runTransition(scope => machine.transition(state, event, scope)))
    expect(ours).to.deep.equal(seen(transition(machine, state, event)))
    expect(ours).to.deep.include({ value: 'full', actions: [{ type: 'told', params: { sum: 7 } }] })
  })
})

// xstate's pure transition, without the actor that its own `transition()` builds for every call: that actor needs an input we do
// not have, so it fails, is caught and costs four times the work. The machine's method asks only for a scope; this is an inert one,
// as xstate/graph makes it. In: a machine's method to run in it. Out: the snapshot and the actions, as data.
import { type AnyActorScope, createEmptyActor, type ExecutableActionObject } from 'xstate'

const emptyActor = createEmptyActor()
const noop = () => {}

export function runTransition<S>(run: (scope: AnyActorScope) => S): [S, ExecutableActionObject[]] {
  const actions: ExecutableActionObject[] = []
  const snapshot = run({
    self: emptyActor,
    system: emptyActor.system,
    id: '',
    sessionId: '',
    logger: noop,
    defer: noop,
    emit: noop,
    stopChild: noop,
    actionExecutor: action => actions.push(action),
  })
  return [snapshot, actions]
}

// Runs a pure transition of an xstate machine. In: a call of a machine's method that takes an actor scope. Out: the snapshot and the
// actions, as data. xstate's own `transition()` builds an actor for every call, which fails without an input and takes four times as long:
// the inert scope here saves three quarters of a step. test/machines/transition.test.ts compares the two, and notices an upgrade that
// changes what a scope is.
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

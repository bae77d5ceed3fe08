// Runs a pure transition of an xstate machine. In: a call of a machine's method that takes an actor scope. Out: the snapshot and the
// actions, as data. xstate's own `transition()` builds an actor for every call; building it fails without an input and takes four times
// as long. The machine's method needs only a scope, so it gets an inert one, like the one in xstate/graph.
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

// What keeps a process from starting and a person can put right: a bad setting, a port in use. Told in plain lines, without a
// stack, because the fault is not in the code.
export class StartProblem extends Error {
  override name = 'StartProblem'
}

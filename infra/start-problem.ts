// A problem that keeps a process from starting and that an operator can solve: a wrong setting, a port in use. It is printed without a
// stack, because the fault is not in the code.
export class StartProblem extends Error {
  override name = 'StartProblem'
}

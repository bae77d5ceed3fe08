// Every problem of the settings in one error, so that an operator does not need a restart for each. A message never repeats the value of
// a secret.
import { StartProblem } from '../start-problem.ts'

export interface SettingProblem {
  /** The name of the variable, or `roles` for the command line. */
  readonly name: string
  readonly message: string
}

export class ConfigProblems extends StartProblem {
  override name = 'ConfigProblems'
  readonly problems: readonly SettingProblem[]

  constructor(problems: readonly SettingProblem[]) {
    super(problems.map(({ name, message }) => `${name}: ${message}`).join('\n'))
    this.problems = problems
  }
}

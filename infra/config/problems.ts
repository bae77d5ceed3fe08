// What is wrong with the settings, all of it at once: an operator who mends one and restarts to learn of the next gives up.
// A message never repeats the value of a secret.
import { StartProblem } from '../start-problem.ts'

export interface SettingProblem {
  /** The variable's name, or `roles` for the command line. */
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

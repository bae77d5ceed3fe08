// Every problem of the settings in one error, so that an operator does not need a restart for each. A message never repeats the value of
// a secret.
import { StartProblem } from '../start-problem.ts'

export interface SettingProblem {
  /** The name of the variable, or `roles` for the command line. */
  readonly name: string
  readonly message: string
}

/** What is known of the bootstrap file although other settings are wrong: its problems are reported together with theirs. */
export interface BootstrapSettings {
  readonly production: boolean
  readonly bootstrapFile: string | null
}

export class ConfigProblems extends StartProblem {
  override name = 'ConfigProblems'
  readonly problems: readonly SettingProblem[]
  readonly bootstrap: BootstrapSettings

  constructor(
    problems: readonly SettingProblem[],
    bootstrap: BootstrapSettings = { production: false, bootstrapFile: null },
  ) {
    super(problems.map(({ name, message }) => `${name}: ${message}`).join('\n'))
    this.problems = problems
    this.bootstrap = bootstrap
  }
}

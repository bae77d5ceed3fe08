// mocha's spec reporter, then the ten slowest files and those with failures, then a plain closing line that machines can read.
import { relative } from 'node:path'
import Mocha from 'mocha'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { sourceFile } from './compiled.ts'

const { EVENT_HOOK_END, EVENT_TEST_END } = Mocha.Runner.constants
const MOST_SLOW_FILES = 10

/** Of a file as mocha names it. */
const sourceOf = (file: string): string => sourceFile(relative(PROJECT_ROOT, file))

export default class PlainEnding extends Mocha.reporters.Spec {
  /** Milliseconds that the tests and hooks of a file took. */
  readonly #files = new Map<string, number>()

  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options)
    const add = ({ file, duration = 0 }: Mocha.Runnable): void => {
      if (file) this.#files.set(file, (this.#files.get(file) ?? 0) + duration)
    }
    runner.on(EVENT_TEST_END, add)
    runner.on(EVENT_HOOK_END, add)
  }

  override epilogue(): void {
    super.epilogue()
    const slowest = [...this.#files].sort(([, a], [, b]) => b - a).slice(0, MOST_SLOW_FILES)
    console.log('The slowest files:')
    for (const [file, ms] of slowest) console.log(`${(ms / 1000).toFixed(1).padStart(8)} s  ${sourceOf(file)}`)
    const failedFiles = new Set(this.failures.map(failure => failure.file))
    // A hook of the whole run has no file. Then running files once more would not show whether it passes.
    if (!failedFiles.has(undefined)) for (const file of failedFiles) console.log(`Failed in: ${sourceOf(file ?? '')}`)
    const { passes, failures, pending } = this.stats
    console.log(`\n${passes} passed, ${failures} failed, ${pending} skipped`)
  }
}

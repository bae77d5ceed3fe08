// mocha's spec reporter with a plain closing line that machines can read.
import Mocha from 'mocha'

export default class PlainEnding extends Mocha.reporters.Spec {
  override epilogue(): void {
    super.epilogue()
    const { passes, failures, pending } = this.stats
    console.log(`${passes} passed, ${failures} failed, ${pending} skipped`)
  }
}

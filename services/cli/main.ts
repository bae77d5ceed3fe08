// The command line. In: arguments and the environment. Out: an exit code (failures.ts), the result on stdout, everything else on stderr.
import process from 'node:process'
import { CommanderError } from 'commander'
import { EXIT, failureJson, failureLines, isFailure } from './failures.ts'
import { jsonText, printable, printNote } from './output.ts'
import { createProgram } from './program.ts'

const program = createProgram()
// `countersign … | head` closes the pipe early. That is no error of the command.
process.stdout.on('error', () => process.exit(EXIT.ok))
process.exitCode = await program.parseAsync().then(() => EXIT.ok, exitCodeOf)

function exitCodeOf(error: unknown): number {
  // Commander has printed it: help and the version are no failure.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  // Control-C at a question.
  if ((error as Error).name === 'ExitPromptError') return EXIT.usage
  if (!isFailure(error)) throw error
  if (program.opts().json) printNote(jsonText(failureJson(error)))
  else printNote(`countersign: ${failureLines(error).map(printable).join('\n')}`)
  return error.exitCode
}

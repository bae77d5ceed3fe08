// Every command, with its help. The order here is the order in the help.
import { Command } from 'commander'
import { VERSION } from '../../infra/version.ts'
import { addApps } from './commands/apps.ts'
import { addCompanies } from './commands/companies.ts'
import { addCompletion } from './commands/completion.ts'
import { addCredit } from './commands/credit.ts'
import { addDoctor } from './commands/doctor.ts'
import { addErase } from './commands/erase.ts'
import { addErasures } from './commands/erasures.ts'
import { addEvents } from './commands/events.ts'
import { addInit } from './commands/init.ts'
import { addKeys } from './commands/keys.ts'
import { addListen } from './commands/listen.ts'
import { addLists } from './commands/lists.ts'
import { addLogin } from './commands/login.ts'
import { addQueues } from './commands/queues.ts'
import { addSettings } from './commands/settings.ts'
import { addTail } from './commands/tail.ts'
import { addUsers } from './commands/users.ts'
import { createSession, examples } from './session.ts'

export function createProgram(): Command {
  const program = new Command('countersign')
    .description('Operates a Countersign deployment through its admin API.')
    .version(VERSION)
    .option('--url <address>', 'of the deployment; else COUNTERSIGN_URL, else that of the profile')
    .option('--profile <name>', 'that countersign login wrote; then COUNTERSIGN_URL and COUNTERSIGN_TOKEN do not count')
    .option('--json', 'print JSON, for programs')
    .helpCommand(false)
    .showHelpAfterError('(countersign --help shows what there is)')
    // A failure is thrown, and main.ts ends the process.
    .exitOverride()
  examples(
    program,
    'login --url https://verify.example.com',
    'companies list',
    'keys create app_… --kind server --mode live',
    'settings set app_… code.length=8 publishable_send=false',
    'queues list --json',
  ).addHelpText(
    'after',
    '\nThe token is in COUNTERSIGN_TOKEN or in the profile.\nExit codes: 0 done, 1 refused, 2 wrong usage, 3 not reachable.',
  )
  const session = createSession(program)
  for (const add of [
    addInit,
    addLogin,
    addCompanies,
    addApps,
    addKeys,
    addUsers,
    addCredit,
    addSettings,
    addLists,
    addEvents,
    addQueues,
    addErase,
    addErasures,
    addDoctor,
    addTail,
    addListen,
    addCompletion,
  ])
    add(program, session)
  return program
}

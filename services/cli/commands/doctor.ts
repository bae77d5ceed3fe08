// `doctor` looks at a deployment from outside and says in words what is wrong with it. In: what the admin API and /readyz answer. Out: a
// line per finding, and exit code 1 when something is broken.
import type { Command } from 'commander'
import { bodyOf, type Schemas, takeItems } from '../api.ts'
import { checkApp } from '../checks/apps.ts'
import { checkCallbacks } from '../checks/callbacks.ts'
import { checkAddress, checkClock, checkEngines, checkQueues } from '../checks/deployment.ts'
import type { Finding } from '../checks/finding.ts'
import { Findings } from '../failures.ts'
import { printable, printLine, printNote } from '../output.ts'
import { parseBaseUrl } from '../profile.ts'
import { examples, type Session } from '../session.ts'

interface DoctorOptions {
  app?: string[]
  publicUrl?: string
}

const MAX_COMPANIES = 1_000
const MAX_APPS = 1_000
const SIGNS = { broken: 'BROKEN', risky: 'RISKY', ok: 'ok' } as const

export function addDoctor(program: Command, session: Session): void {
  const doctor = program
    .command('doctor')
    .description('check a deployment: engines, clocks, queues, providers, callbacks, risky settings')
    .option('--app <id...>', 'only these apps; all by default')
    .option('--public-url <address>', 'that vendors call, where the API has another address than the admin API')
    .action(async ({ app, publicUrl }: DoctorOptions) => {
      const findings: Finding[] = []
      const add = (...found: Finding[]): void => {
        findings.push(...found)
        if (!session.isJson())
          for (const one of found) printLine(`${SIGNS[one.state].padEnd(6)}  ${printable(one.text)}`)
      }
      const calledUrl = publicUrl === undefined ? undefined : parseBaseUrl(publicUrl)
      const connection = session.connection()
      const api = session.api()
      add(...checkAddress(connection.url))
      add(...(await checkEngines(connection.url)), ...(await checkClock(connection.url)))
      add(...(await checkQueues(api)))
      const apps = await (app === undefined ? openApps() : Promise.all(app.map(readApp)))
      for (const one of apps) add(...(await checkApp(api, one)))
      add(...(await checkCallbacks(api, connection, apps, calledUrl)))
      if (session.isJson()) session.showRecord({ findings })
      const broken = findings.filter(({ state }) => state === 'broken').length
      const risky = findings.filter(({ state }) => state === 'risky').length
      if (broken > 0) throw new Findings(`${broken} broken, ${risky} risky`)
      printNote(risky > 0 ? `Nothing is broken, ${risky} risky.` : 'All is well.')
    })
  examples(doctor, 'doctor', 'doctor --app app_… --public-url https://verify.example.com', 'doctor --json')

  const readApp = (id: string): Promise<Schemas['App']> =>
    bodyOf(session.api().GET('/admin/v1/apps/{id}', { params: { path: { id } } }))

  async function openApps(): Promise<Schemas['App'][]> {
    const api = session.api()
    const companies = await takeItems(MAX_COMPANIES, query =>
      bodyOf(api.GET('/admin/v1/companies', { params: { query } })),
    )
    const apps: Schemas['App'][] = []
    for (const { id } of companies.filter(({ closed_at }) => closed_at === null))
      apps.push(
        ...(await takeItems(MAX_APPS, query =>
          bodyOf(api.GET('/admin/v1/companies/{id}/apps', { params: { path: { id }, query } })),
        )),
      )
    return apps.filter(({ closed_at }) => closed_at === null)
  }
}

import { existsSync, readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { bodyOf, type Schemas } from '../api.ts'
import { UsageError } from '../failures.ts'
import { printNote } from '../output.ts'
import { examples, type Session } from '../session.ts'
import { type Difference, differencesOf, leavesOf, patchOf, valueAt } from '../setting-paths.ts'

type Patch = Schemas['AppSettingsPatch']

export function addSettings(program: Command, session: Session): void {
  const settings = program.command('settings').description('read, change and compare the settings of an app')
  const settingsOf = async (id: string) =>
    (await bodyOf(session.api().GET('/admin/v1/apps/{id}', { params: { path: { id } } }))).settings
  const showDifferences = (differences: readonly Difference[], left: string, right: string) =>
    session.showList(differences, {
      SETTING: ({ path }) => path,
      [left]: one => JSON.stringify(one.left),
      [right]: one => JSON.stringify(one.right),
    })

  settings
    .command('get <app> [path]')
    .description('all settings by their paths, or what stands at one')
    .action(async (id: string, path?: string) => {
      const all = await settingsOf(id)
      const value = path === undefined ? all : valueAt(all, path)
      if (value === undefined) throw new UsageError(`there is no setting ${path}`)
      if (session.isJson() || typeof value !== 'object' || value === null || Array.isArray(value))
        return session.showDone(JSON.stringify(value), value as object)
      const above = path === undefined ? '' : `${path}.`
      session.showList([...leavesOf(value, above)], {
        SETTING: ([at]) => at,
        VALUE: ([, leaf]) => JSON.stringify(leaf),
      })
    })

  const set = settings
    .command('set <app> [assignments...]')
    .description('change some; null means the default again')
    .option('--file <path>', 'a JSON file with the settings to change, in place of assignments')
    .action(async (id: string, assignments: string[], { file }: { file?: string }) => {
      if ((file === undefined) === (assignments.length === 0))
        throw new UsageError('name settings as path=value, or a --file')
      const patch = (file === undefined ? patchOf(assignments) : readSettings(file)) as Patch
      const before = await settingsOf(id)
      const app = await bodyOf(
        session.api().PATCH('/admin/v1/apps/{id}', { params: { path: { id } }, body: { settings: patch } }),
      )
      showDifferences(differencesOf(leavesOf(before), leavesOf(app.settings)), 'BEFORE', 'NOW')
      for (const { path, message } of app.warnings) printNote(`Careful: ${path} ${message}`)
    })
  examples(
    set,
    'settings set app_… code.length=8 locale=de',
    `settings set app_… 'routing.default=["sms", "email"]'`,
    'settings set app_… limits.recipient=null',
    'settings set app_… --file settings.json',
  )

  const diff = settings
    .command('diff <app> <other>')
    .description('what differs from another app, or from a file with some settings')
    .action(async (id: string, other: string) => {
      const own = leavesOf(await settingsOf(id))
      if (other.startsWith('app_') && !existsSync(other))
        return showDifferences(differencesOf(own, leavesOf(await settingsOf(other))), id, other)
      // What the file does not name is not compared.
      const named = leavesOf(readSettings(other))
      const compared = new Map([...own].filter(([path]) => named.has(path)))
      showDifferences(differencesOf(compared, named), id, other)
    })
  examples(diff, 'settings diff app_… app_…', 'settings diff app_… settings.json')
}

function readSettings(path: string): object {
  try {
    const settings: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof settings === 'object' && settings !== null && !Array.isArray(settings)) return settings
  } catch (error) {
    throw new UsageError(`${path}: ${(error as Error).message}`)
  }
  throw new UsageError(`${path} does not hold a JSON object`)
}

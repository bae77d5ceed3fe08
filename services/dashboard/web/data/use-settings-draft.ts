// The settings of the app while a screen edits them. In: the saved settings and the edits. Out: the draft; whether it
// differs; saving it as the smallest change; and why the last save was refused, by path. What others have changed
// meanwhile is kept; where it was edited here too, it is told before it is replaced. A draft outlives its screen in
// this tab, so that neither a session that ended nor a look at another app costs what was typed.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { SettingPath } from '../../../domain/tenancy/setting-list.ts'
import { api, bodyOf } from '../api/client.ts'
import { Problem } from '../api/problem.ts'
import type { Schemas } from '../api/schema.ts'
import { readInTab, storeInTab } from './browser-storage.ts'
import {
  conflictsOf,
  type DraftedSettings,
  type MemberAt,
  patchOf,
  rebase,
  type Settings,
  sameValue,
  valueAt,
  withValueAt,
} from './settings-patch.ts'
import { getApp, useApp, useTenant } from './tenant.tsx'
import { useChange } from './use-change.ts'
import { useQuery } from './use-query.ts'
import { asSentence } from './value-words.ts'

export interface FieldProblem {
  /** In the settings: `code.length`. */
  path: string
  /** Words that follow the name of the setting. */
  message: string
}

export interface SettingsDraft {
  /** As the server has them. */
  saved: Settings
  /** As they are on the screen. */
  settings: DraftedSettings
  /** What saving would change; null when nothing differs. */
  patch: Record<string, unknown> | null
  isDirty: boolean
  busy: boolean
  /** Why the last save was refused; null once everything that was refused has been edited, or is as others have saved it. */
  problem: Problem | null
  /** What others have saved meanwhile and this draft would replace. */
  changedByOthers: { path: string; value: unknown }[]
  /** Refusals of settings that another screen shows: a short code may need lower limits. */
  elsewhere: FieldProblem[]
  set<Path extends SettingPath>(path: Path, value: MemberAt<DraftedSettings, Path>): void
  /** The words beside a field, by its path in the settings, until it is edited. */
  errorOf(path: string): string | undefined
  /** The same for a field that shows a whole list: the words of its first refused item. */
  errorUnder(path: string): string | undefined
  /** Resolves to whether it was saved. */
  save(): Promise<boolean>
  discard(): void
}

interface State {
  /** The settings that the draft was made of. */
  base: Settings
  draft: DraftedSettings
  /** The paths of what others have changed since it was edited. */
  conflicts: readonly string[]
}

const withoutEdits = (settings: Settings): State => ({
  base: settings,
  draft: settings as DraftedSettings,
  conflicts: [],
})

type SettingsPatch = Schemas['AppSettingsPatch']

const PATH_OF_SETTINGS = 'settings.'

/** `screen` names the draft; `shown`: the settings, or groups of them, that the screen has fields for. */
export function useSettingsDraft(screen: string, shown: readonly (SettingPath | keyof Settings)[]): SettingsDraft {
  const app = useApp()
  const { replaceApp } = useTenant()
  const change = useChange()
  const storageKey = `draft ${screen} ${app.id}`
  const [state, setState] = useState<State>(() => readDraft(storageKey) ?? withoutEdits(app.settings))
  /** On the settings as the server has them. */
  const upToDate = (one: State): State => (one.base === app.settings ? one : rebased(one, app.settings))
  /** The draft that was refused: a field that differs from it has been edited since. */
  const refused = useRef<DraftedSettings | null>(null)
  /** Whether the last save was refused because others had saved what is edited here. */
  const wasConflict = useRef(false)

  // The list of apps was read when the page was opened.
  const fresh = useQuery(`settings of ${app.id}`, () => getApp(app.id))
  /** What was read before a save is older than its answer. */
  const hasSaved = useRef(false)
  useEffect(() => {
    if (fresh.data && !hasSaved.current) replaceApp(fresh.data)
  }, [fresh.data])

  const current = useMemo<State>(() => upToDate(state), [state, app.settings])
  const { base, draft, conflicts } = current
  const patch = useMemo(() => patchOf(base, draft), [base, draft])

  // With the render: a later effect waits for a frame, and a page that is reloaded before it would lose the last change.
  useLayoutEffect(() => storeDraft(storageKey, patch === null ? null : current), [storageKey, patch, current])

  const problems = fieldProblems(change.problem).filter(({ path }) =>
    sameValue(valueAt(refused.current, path), valueAt(draft, path)),
  )
  const isEdited = change.problem !== null && change.problem.fields.size > 0 && problems.length === 0
  const changedByOthers = conflicts
    .map(path => ({ path, value: valueAt(base, path) }))
    .filter(({ path, value }) => !sameValue(value, valueAt(draft, path)))
  /** Whether the save was refused for what others have saved, and that has been taken over everywhere since. */
  const isSettled = wasConflict.current && changedByOthers.length === 0

  const patchApp = (from: Settings, to: DraftedSettings) =>
    bodyOf(
      api.PATCH('/admin/v1/apps/{id}', {
        params: { path: { id: app.id } },
        // It may hold texts in place of numbers, which the server refuses, and null for a country that is removed.
        body: { settings: patchOf(from, to) as SettingsPatch, replaces: patchOf(to, from) as SettingsPatch },
      }),
    )

  return {
    saved: app.settings,
    settings: draft,
    patch,
    isDirty: patch !== null,
    busy: change.busy,
    problem: isEdited || isSettled ? null : change.problem,
    changedByOthers,
    elsewhere: problems.filter(({ path }) => !shown.some(name => path === name || path.startsWith(`${name}.`))),
    set: (path, value) =>
      setState(now => {
        const one = upToDate(now)
        return { ...one, draft: withValueAt(one.draft, path, value) }
      }),
    errorOf: path => wordsOf(problems.find(problem => problem.path === path)),
    errorUnder: path => wordsOf(problems.find(problem => problem.path === path || problem.path.startsWith(`${path}.`))),
    save: () =>
      change.run(async () => {
        if (patch === null) return
        refused.current = draft
        wasConflict.current = false
        const answer = await patchApp(base, draft).catch(async thrown => {
          if (Problem.from(thrown).status !== 409) throw thrown
          const now = await getApp(app.id)
          if (conflictsOf(base, draft, now.settings).length > 0) {
            // What others have saved meanwhile is shown, and saving again replaces it.
            wasConflict.current = true
            replaceApp(now)
            throw thrown
          }
          // Others have saved the same, or the answer to an earlier save was lost: the rest is saved, if there is one.
          const wanted = rebase(base, draft, now.settings)
          return patchOf(now.settings, wanted) === null ? now : patchApp(now.settings, wanted)
        })
        hasSaved.current = true
        // What was typed while the call was under way is still unsaved.
        setState(now => ({
          base: answer.settings,
          draft: rebase(draft, upToDate(now).draft, answer.settings),
          conflicts: [],
        }))
        replaceApp(answer)
      }),
    discard() {
      change.reset()
      storeDraft(storageKey, null)
      setState(withoutEdits(app.settings))
    },
  }
}

const rebased = ({ base, draft, conflicts }: State, fresh: Settings): State => ({
  base: fresh,
  draft: rebase(base, draft, fresh),
  conflicts: [...new Set([...conflicts, ...conflictsOf(base, draft, fresh)])],
})

const wordsOf = (problem: FieldProblem | undefined): string | undefined => problem && asSentence(problem.message)

const fieldProblems = (problem: Problem | null): FieldProblem[] =>
  [...(problem?.fields ?? [])].flatMap(([path, message]) =>
    path.startsWith(PATH_OF_SETTINGS) ? [{ path: path.slice(PATH_OF_SETTINGS.length), message }] : [],
  )

/** It belongs to the tab, and signing out clears it. Without storage, a draft lasts as long as its screen. */
function readDraft(key: string): State | null {
  try {
    return JSON.parse(readInTab(key) ?? 'null')
  } catch {
    return null
  }
}

const storeDraft = (key: string, state: State | null): void =>
  storeInTab(key, state === null ? null : JSON.stringify(state))

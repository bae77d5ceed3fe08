// In: an app's stored settings, and an operator's patch. Out: the settings to store, or every problem by path.
// Objects are merged member by member, lists and values are replaced, and null resets a member to its default.

import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject } from '../../../infra/json-object.ts'
import { type CheckResult, checkMembers, type InputProblem } from '../../domain/tenancy/problems.ts'
import {
  type SettingsInput,
  settingsSchema,
  settingsSizeProblems,
  writtenSettingsSchema,
} from '../../domain/tenancy/settings.ts'

/** An answer names no more problems (services/domain/errors.ts). */
const MANY_PROBLEMS = 100

/** Checks a patch by itself, once. What is returned merges it into stored settings, and checks what comes of that:
 *  again after a lost race. */
export function preparePatch(patch: JsonObject): (stored: SettingsInput) => CheckResult<SettingsInput> {
  const size = settingsSizeProblems(patch)
  if (size.length > 0) return () => ({ ok: false, problems: size })
  const { names, values } = checkMembers(settingsSchema, withoutResets(patch))
  // The same would be found in the merged settings, and each problem takes its time.
  if (values.length > MANY_PROBLEMS) return () => ({ ok: false, problems: [...names, ...values] })
  const problems = [
    // Names are checked in the patch, because a null with a mistyped name leaves no trace in the merged settings.
    ...names,
    // An empty object is stored as no group, so the merged settings do not show one that stands in place of a value.
    ...values.filter(({ path }) => isJsonObject(memberAt(patch, path))),
  ]
  return stored => applyPatch(stored, patch, problems)
}

export const patchSettings = (stored: SettingsInput, patch: JsonObject): CheckResult<SettingsInput> =>
  preparePatch(patch)(stored)

function applyPatch(
  stored: SettingsInput,
  patch: JsonObject,
  problemsOfPatch: readonly InputProblem[],
): CheckResult<SettingsInput> {
  const merged = merge(stored, patch)
  const problems = [
    ...problemsOfPatch,
    ...settingsSizeProblems(merged),
    // An unknown member in the merged settings was stored by a newer release, during a rolling deploy, and is no fault of the patch.
    ...checkMembers(writtenSettingsSchema, withChangedTexts(stored, merged)).values,
  ]
  const byPath = new Map(problems.map(problem => [problem.path, problem]))
  // The cast is safe: the merged settings were checked with the schema of this type.
  return byPath.size > 0 ? { ok: false, problems: [...byPath.values()] } : { ok: true, value: merged as SettingsInput }
}

/** Without the own texts that are stored already. They are the bulk of settings, and no rule is between them and other settings. */
const withChangedTexts = (stored: SettingsInput, merged: JsonObject): JsonObject =>
  isJsonObject(merged.texts) ? { ...merged, texts: changedTexts(stored.texts ?? {}, merged.texts) } : merged

/** Own texts, by channel and language, that differ from those that are stored. */
export const changedTexts = (stored: JsonObject, texts: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(texts).map(([channel, byLanguage]) => {
      const before = jsonObjectOrEmpty(stored[channel])
      const isChanged = ([language, text]: [string, unknown]) =>
        !Object.hasOwn(before, language) || !isDeepStrictEqual(before[language], text)
      return [
        channel,
        isJsonObject(byLanguage) ? Object.fromEntries(Object.entries(byLanguage).filter(isChanged)) : byLanguage,
      ]
    }),
  )

/** Problems of the names in settings that a caller has read. */
export function unknownSettings(read: JsonObject): InputProblem[] {
  const size = settingsSizeProblems(read)
  return size.length > 0 ? size : checkMembers(settingsSchema, withoutResets(read)).names
}

/** The members of the settings that differ from those that a caller has read, by path. Null: the caller has read none. */
export const membersThatDiffer = (settings: JsonObject, read: JsonObject, above = ''): string[] =>
  Object.entries(read).flatMap(([name, value]) => {
    const path = `${above}${name}`
    const now = (Object.hasOwn(settings, name) ? settings[name] : undefined) ?? null
    if (isJsonObject(value) && isJsonObject(now)) return membersThatDiffer(now, value, `${path}.`)
    return isDeepStrictEqual(value, now) ? [] : [path]
  })

const memberAt = (value: unknown, path: string): unknown =>
  path.split('.').reduce((at, name) => (isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), value)

function merge(stored: JsonObject, patch: JsonObject): JsonObject {
  // A Map keeps `__proto__` as an ordinary member, which the check then refuses. An assignment would set the prototype.
  const members = new Map(Object.entries(stored))
  for (const [name, change] of Object.entries(patch)) {
    const value = isJsonObject(change) ? merge(jsonObjectOrEmpty(members.get(name)), change) : change
    // An empty group is stored as no group.
    if (value === null || (isJsonObject(value) && Object.keys(value).length === 0)) members.delete(name)
    else members.set(name, value)
  }
  return Object.fromEntries(members)
}

/** Nulls become undefined, which the schema accepts. Their names stay, so that they are checked. */
const withoutResets = (patch: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(patch).map(([name, value]) => [
      name,
      value === null ? undefined : isJsonObject(value) ? withoutResets(value) : value,
    ]),
  )

const jsonObjectOrEmpty = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})

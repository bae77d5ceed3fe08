// What is wrong with the own texts that a change of an app sets. In: the app as it is stored, and as it would be. Out:
// the problems, by path in the settings. Only texts that may have become wrong are checked: those that differ, or all
// of them where something changes that is part of each. Other work has its turn between portions of them.
import { isDeepStrictEqual } from 'node:util'
import { eventLoop } from '../../../infra/event-loop.ts'
import type { JsonObject } from '../../../infra/json-object.ts'
import type { AppSettings } from '../../../machines/settings.ts'
import type { InputProblem } from '../../domain/tenancy/problems.ts'
import { resolveSettings, type SettingsInput } from '../../domain/tenancy/settings.ts'
import { ownTextProblems } from '../../domain/texts/own-texts.ts'
import { changedTexts } from './settings-patch.ts'

export interface NamedSettings {
  name: string
  settings: SettingsInput
}

/** The texts of one portion, which takes some milliseconds at most. Filled in, a text may be many times as long. */
const MAX_TEXTS = 20
const MAX_LENGTH = 50_000

export async function textProblems(stored: NamedSettings, next: NamedSettings): Promise<InputProblem[]> {
  const texts = (next.settings.texts ?? {}) as JsonObject
  const frame = frameOf(next)
  const unchecked = isDeepStrictEqual(frameOf(stored), frame)
    ? changedTexts((stored.settings.texts ?? {}) as JsonObject, texts)
    : texts
  const problems: InputProblem[] = []
  for (const portion of portionsOf(unchecked)) {
    problems.push(...ownTextProblems({ ...frame, texts: resolveSettings({ texts: portion }).texts }, next.name))
    await eventLoop.turn()
  }
  return problems
}

/** What counts in each text, beside the text itself. */
function frameOf({ name, settings: { texts: _, ...others } }: NamedSettings) {
  const { text_links, code, channels }: AppSettings = resolveSettings(others)
  return { name, text_links, code, channels }
}

function* portionsOf(texts: JsonObject): Generator<NonNullable<SettingsInput['texts']>> {
  let portion: Record<string, JsonObject> = {}
  let [count, length] = [0, 0]
  for (const [channel, byLanguage] of Object.entries(texts))
    for (const [language, text] of Object.entries(byLanguage as JsonObject)) {
      const texts = portion[channel] ?? {}
      texts[language] = text
      portion[channel] = texts
      count += 1
      length += JSON.stringify(text).length
      if (count < MAX_TEXTS && length < MAX_LENGTH) continue
      // The casts are safe: the settings were checked.
      yield portion as SettingsInput['texts'] & object
      portion = {}
      ;[count, length] = [0, 0]
    }
  if (count > 0) yield portion as SettingsInput['texts'] & object
}

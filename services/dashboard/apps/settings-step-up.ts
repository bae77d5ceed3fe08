// Which changes of settings need a step-up, as machines/settings.ts declares it: a stolen session must not make them
// alone. In: the settings as stored and as they are to be stored. Out: the paths of those that need it. Pure.
import { isDeepStrictEqual } from 'node:util'
import { isJsonObject } from '../../../infra/json-object.ts'
import type { LimitRule, SettingStepUp } from '../../../machines/settings.ts'
import { mostIn } from '../../../machines/windows.ts'
import { SETTINGS, type Setting, type SettingPath } from '../../domain/tenancy/setting-list.ts'
import { resolveSettings, type SettingsInput } from '../../domain/tenancy/settings.ts'

export function settingsThatNeedStepUp(stored: SettingsInput, changed: SettingsInput): SettingPath[] {
  const differing = SETTINGS.filter(({ path, stepUp }) => {
    if (stepUp === null) return false
    return !isDeepStrictEqual(valueAt(stored, path), valueAt(changed, path))
  })
  if (differing.length === 0) return []
  // What an app has not set may follow from whether devices send. Otherwise a guard could be set to less before they do.
  const worlds = [{}, { publishable_send: true }].map(world =>
    [stored, changed].map(settings => resolveSettings({ ...settings, texts: {}, ...world })),
  )
  const needsIt = (setting: Setting) =>
    worlds.some(([from, to]) =>
      NEEDS_IT[setting.stepUp ?? 'changed'](valueAt(from, setting.path), valueAt(to, setting.path), setting),
    )
  return differing.filter(needsIt).map(({ path }) => path)
}

const TENFOLD = 10

/** In: values that were checked. */
const NEEDS_IT: Record<SettingStepUp, (from: unknown, to: unknown, setting: Setting) => boolean> = {
  changed: () => true,
  switched_on: (from, to) => to === true && from !== true,
  weakened(from, to, { choices }) {
    const order = Object.keys(choices)
    return order.indexOf(String(to)) < order.indexOf(String(from))
  },
  raised(from, to) {
    const [before, after] = [from, to] as Readonly<Record<string, number>>[]
    const countries = Object.keys({ ...before, ...after, '*': 0 })
    return countries.some(country => capOf(after, country) > capOf(before, country))
  },
  lowered: (from, to) => Number(to) < Number(from),
  /** Also ten times the default: otherwise ten times as much could be allowed again and again. */
  raised_tenfold(from, to, setting) {
    const [before, after, usual] = [from, to, setting.default] as (readonly LimitRule[])[]
    return [...(before ?? []), ...(usual ?? [])].some(({ seconds }) => {
      const [most = 0, mostBefore = 0, mostUsual = 0] = [after, before, usual].map(rules =>
        mostIn(rules ?? [], seconds),
      )
      return most > TENFOLD * mostBefore || (most > mostBefore && most > TENFOLD * mostUsual)
    })
  },
}

const capOf = (caps: Readonly<Record<string, number>> | undefined, country: string): number =>
  caps?.[country] ?? caps?.['*'] ?? Number.POSITIVE_INFINITY

const valueAt = (settings: unknown, path: string): unknown =>
  path.split('.').reduce((at, name) => (isJsonObject(at) ? at[name] : undefined), settings)

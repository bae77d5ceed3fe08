// A setting of the app in a form. In: its path, and the draft. Out: the control of its kind, with the words and bounds of its declaration.
import type { SettingPath } from '../../../domain/tenancy/setting-list.ts'
import { SETTING_FIELDS } from '../../apps/settings.data.ts'
import { duration, durations } from '../data/duration.ts'
import { amount, lines, type Notation, optionalText, percent, wholeNumber } from '../data/notation.ts'
import { choicesOf, hintOf, labelOf, refusalOf } from '../data/setting-words.ts'
import { valueAt } from '../data/settings-patch.ts'
import type { SettingsDraft } from '../data/use-settings-draft.ts'
import { CheckGroup } from './check-group.tsx'
import { Switch, TextField, type TextFieldProps } from './field.tsx'
import { RadioGroup } from './radio-group.tsx'
import { TypedArea, TypedField } from './typed-field.tsx'

const NOTATIONS: Record<string, unknown> = {
  number: wholeNumber,
  percent,
  amount,
  duration,
  durations,
  optional_text: optionalText,
}

export interface SettingFieldProps extends Partial<Pick<TextFieldProps, 'label' | 'hint' | 'inputMode' | 'monospace'>> {
  draft: SettingsDraft
  path: SettingPath
  /** Said in place of the server's words. */
  refusal?: string | undefined
}

export function SettingField({ draft, path, refusal = refusalOf(path), ...look }: SettingFieldProps) {
  const { kind, example } = SETTING_FIELDS[path]
  // The declaration says the kind and the type of a setting, so the value is of the type that its control takes.
  const value = valueAt(draft.settings, path) as never
  const set = (changed: unknown): void => draft.set(path, changed as never)
  const props = { label: labelOf(path), hint: hintOf(path), error: draft.errorUnder(path), ...look }
  if (kind === 'switch') return <Switch {...props} checked={value} onChange={set} />
  if (kind === 'choice') return <RadioGroup {...props} value={value} options={choicesOf(path)} onChange={set} />
  if (kind === 'choices') return <CheckGroup {...props} value={value} options={choicesOf(path)} onChange={set} />
  if (kind === 'text') return <TextField {...props} value={value} onInput={set} />
  if (kind === 'list') return <TypedArea {...props} rows={3} monospace notation={lines} value={value} onInput={set} />
  return (
    <TypedField
      {...(kind === 'number' || kind === 'percent' ? { inputMode: 'numeric' } : {})}
      {...(kind === 'amount' ? { inputMode: 'decimal' } : {})}
      {...props}
      placeholder={example}
      notation={NOTATIONS[kind] as Notation<unknown>}
      value={value}
      // An emptied text is none. An emptied number is refused.
      onInput={typed => set(kind === 'optional_text' && String(typed).trim() === '' ? null : typed)}
      refusal={refusal}
    />
  )
}

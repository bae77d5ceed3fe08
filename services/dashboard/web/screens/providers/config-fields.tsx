// The fields of a provider's config. In: its type and what was typed so far. Out: a field for each member; those that are seldom needed are
// shown on demand.

import { PLACEHOLDERS } from '../../../../domain/tenancy/provider-types/http.ts'
import { type FieldAtPath, fieldsOf, type ProviderType } from '../../../../domain/tenancy/provider-types/list.ts'
import { Select, Switch, TextArea, TextField } from '../../ui/field.tsx'
import { type ConfigForm, defaultOf, isMoved, isRemovable } from './config-form.ts'
import { HeadersField } from './headers-field.tsx'
import { SecretField } from './secret-field.tsx'

export interface ConfigFieldsProps {
  type: ProviderType
  form: ConfigForm
  /** As it was when the form was opened. */
  before: ConfigForm
  onChange(form: ConfigForm): void
  /** Why the last submission was refused, by path in the body. */
  refusals: ReadonlyMap<string, string>
}

export function ConfigFields(props: ConfigFieldsProps) {
  const fields = fieldsOf(props.type)
  const rare = fields.filter(field => field.rare)
  const isOpen = rare.some(
    ({ path, label }) => sentenceBeside(props, path, label) || props.before.texts[path] || props.before.stored[path],
  )
  const moved = isMoved(props.type, props.before, props.form)
  const show = (field: FieldAtPath) => <OneField key={field.path} {...props} field={field} moved={moved} />
  return (
    <>
      {fields.filter(field => !field.rare).map(show)}
      {rare.length > 0 && (
        <details class="more" open={isOpen}>
          <summary>More settings</summary>
          <div class="form">{rare.map(show)}</div>
        </details>
      )}
    </>
  )
}

function OneField({
  type,
  field,
  form,
  onChange,
  refusals,
  moved,
}: ConfigFieldsProps & { field: FieldAtPath; moved: boolean }) {
  const { path, label, kind } = field
  const error = sentenceBeside({ refusals, type }, path, label)
  const value = form.texts[path] ?? ''
  const setText = (text: string) => onChange({ ...form, texts: { ...form.texts, [path]: text } })

  if (kind === 'headers')
    return (
      <HeadersField
        label={label}
        hint={field.hint}
        rows={form.headers}
        onChange={headers => onChange({ ...form, headers })}
        moved={moved}
        error={error}
        errorOf={name => (name === '' ? undefined : sentenceBeside({ refusals, type }, `${path}.${name}`, name))}
      />
    )
  if (field.secret)
    return (
      <SecretField
        field={field}
        value={value}
        onInput={setText}
        stored={form.stored[path]}
        moved={moved}
        removed={form.removed.includes(path)}
        onRemove={isRemovable(field) ? () => onChange({ ...form, removed: [...form.removed, path] }) : undefined}
        onKeep={() => onChange({ ...form, removed: form.removed.filter(one => one !== path) })}
        error={error}
      />
    )
  if (kind === 'switch')
    return (
      <Switch
        label={label}
        hint={field.hint}
        checked={form.switches[path] === true}
        onChange={on => onChange({ ...form, switches: { ...form.switches, [path]: on } })}
      />
    )
  if (kind === 'choice')
    return (
      <Select
        label={label}
        hint={field.hint}
        value={value}
        options={(field.choices ?? []).map(choice => ({ value: choice, label: choice }))}
        onChange={setText}
        error={error}
      />
    )
  if (kind === 'json')
    return (
      <TextArea label={label} hint={<BodyHelp />} value={value} onInput={setText} rows={7} monospace error={error} />
    )
  const usual = defaultOf(field, form.switches)
  return (
    <TextField
      label={label}
      hint={field.hint}
      value={value}
      onInput={setText}
      placeholder={usual === undefined ? '' : String(usual)}
      {...(kind === 'number' ? { inputMode: 'numeric' as const } : {})}
      error={error}
    />
  )
}

/** A refusal of something inside a body is said beside the whole body, with the place. */
function sentenceBeside(
  { refusals, type }: Pick<ConfigFieldsProps, 'refusals' | 'type'>,
  path: string,
  label: string,
): string | undefined {
  const words = refusals.get(`config.${path}`)
  if (words !== undefined) return `${label} ${words}`
  if (fieldsOf(type).find(field => field.path === path)?.kind !== 'json') return undefined
  const [inside] = [...refusals].filter(([one]) => one.startsWith(`config.${path}.`))
  return inside && `${inside[0].slice(`config.${path}.`.length)} ${inside[1]}`
}

function BodyHelp() {
  return (
    <>
      JSON. In its strings stand{' '}
      {Object.entries(PLACEHOLDERS).map(([name, meaning], at, { length }) => (
        <span key={name}>
          {at === 0 ? '' : at === length - 1 ? ' and ' : ', '}
          <code>{`{{${name}}}`}</code> ({meaning})
        </span>
      ))}
      . Other texts are secret: they are shown as fingerprints, and kept while those stand there.
    </>
  )
}

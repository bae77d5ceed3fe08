// Adds a provider or changes one. In: the provider, or the channel for a new one. Out: the provider as it was saved. What a colleague has
// saved meanwhile is not overwritten: it is shown, with the own edits on top, to be saved again.
import { useEffect, useRef, useState } from 'preact/hooks'
import {
  channelsOf,
  declarationOf,
  PROVIDER_TYPES,
  type ProviderType,
} from '../../../../domain/tenancy/provider-types/list.ts'
import { Problem } from '../../api/problem.ts'
import { CHANNEL_OPTIONS, type Channel, channelName } from '../../data/channels.ts'
import { sortedByName } from '../../data/countries.ts'
import { changedMembers, rebase, sameValue } from '../../data/settings-patch.ts'
import { useApp } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { type CountryAmountMap, CountryAmounts } from '../../ui/country-amounts.tsx'
import { CountryField, CountryTags } from '../../ui/country-field.tsx'
import { Dialog, SubmitActions } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Notice } from '../../ui/notice.tsx'
import { CallbackAddress } from './callback-address.tsx'
import { ConfigFields } from './config-fields.tsx'
import { configOf, fieldOfRefusal, formOf, rebaseForm } from './config-form.ts'
import { getProvider, type Provider, putProvider } from './provider-calls.ts'
import { suggestName } from './provider-names.ts'

const NAME_TAKEN = 'is taken: this app has a provider with this name'

const COST_WORDS = {
  none: 'Optional. Routes that learn weigh it against approvals; nobody is charged by it.',
  per: 'a message',
  one: 'the cost',
  field: 'Cost in a country',
  add: 'Add cost',
  addOthers: 'Add cost everywhere else',
  example: '0.04',
}

export interface ProviderDialogProps {
  /** Null for a new one. */
  provider: Provider | null
  /** The channel of a new provider, where it is known already. */
  channel: Channel | null
  /** The names that are taken. */
  taken: readonly string[]
  /** Closes the dialog, which is busy until then. */
  onSaved(provider: Provider): Promise<void>
  onClose(): void
}

export function ProviderDialog({ provider, channel: wanted, taken, onSaved, onClose }: ProviderDialogProps) {
  const app = useApp()
  const change = useChange()
  const types = PROVIDER_TYPES.filter(one => wanted === null || channelsOf(one).includes(wanted))
  const [type, setType] = useState<ProviderType>(provider?.type ?? types[0] ?? 'http')
  const [channel, setChannel] = useState<Channel>(provider?.channel ?? wanted ?? 'sms')
  const [name, setName] = useState(provider?.name ?? suggestName(type, taken))
  const [before, setBefore] = useState(() => formOf(type, provider?.config ?? null))
  const [form, setForm] = useState(before)
  const [countries, setCountries] = useState(provider?.countries ?? [])
  const [cost, setCost] = useState<CountryAmountMap>(provider?.cost_micros ?? {})
  const [opened, setOpened] = useState(provider)
  const [wasChanged, setWasChanged] = useState(false)
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map())
  const info = declarationOf(type)
  const [served = channel, ...others] = channelsOf(type)
  const servedChannel = others.length === 0 ? served : channel

  const chooseType = (chosen: ProviderType) => {
    const empty = formOf(chosen, null)
    if (name === suggestName(type, taken)) setName(suggestName(chosen, taken))
    setType(chosen)
    setBefore(empty)
    setForm(empty)
    setProblems(new Map())
    change.reset()
  }
  /** Resolves to whether another person has changed one of these members since they were read. */
  const showOthersChange = async (read: Provider, edited: object): Promise<boolean> => {
    const fresh = await getProvider(app.id, read.name)
    const { countries: served, cost_micros, config } = fresh
    const theirs = changedMembers(read, { countries: served, cost_micros, config })
    if (!Object.keys(edited).some(name => Object.hasOwn(theirs, name))) return false
    const freshForm = formOf(type, config)
    setOpened(fresh)
    setBefore(freshForm)
    setForm(rebaseForm(before, form, freshForm))
    if (sameValue(read.countries ?? [], countries)) setCountries(served ?? [])
    setCost(rebase(read.cost_micros, cost, cost_micros))
    setWasChanged(true)
    return true
  }
  const save = async () => {
    setWasChanged(false)
    const built = configOf(type, form)
    const found = new Map([...built.problems].map(([path, problem]) => [`config.${path}`, problem]))
    if (provider === null && taken.includes(name.trim())) found.set('name', NAME_TAKEN)
    setProblems(found)
    if (found.size > 0) return
    await change.run(async () => {
      const scope = servedChannel === 'email' || countries.length === 0 ? null : countries
      // What is no amount yet is refused by the server, and said beside its field.
      const cost_micros = cost as Record<string, number>
      const fields = { countries: scope, cost_micros, config: built.config }
      const changed = opened === null ? fields : changedMembers(openedWith(opened), fields)
      const replaces = opened && readOf(opened, changed)
      const body = { type, channel: servedChannel, ...changed, replaces }
      const saved = await putProvider(app.id, name.trim(), body).catch(async thrown => {
        if (Problem.from(thrown).status !== 409) throw thrown
        if (opened === null) setProblems(new Map([['name', NAME_TAKEN]]))
        else if (!(await showOthersChange(opened, changed))) throw thrown
        return null
      })
      if (saved !== null) await onSaved(saved)
    })
  }
  const refusals = new Map([...(change.problem?.fields ?? []), ...problems])
  const sentenceOf = (path: string, label: string) => {
    const words = refusals.get(path)
    return words === undefined ? undefined : `${label} ${words}`
  }
  // What is said beside the fields is not said again below them.
  const isSaidBeside = (path: string) =>
    (provider === null && ['name', 'channel'].includes(path)) ||
    path.startsWith('cost_micros.') ||
    (path.startsWith('config.') && fieldOfRefusal(type, path.slice('config.'.length)) !== undefined)
  const isAllSaid = refusals.size > 0 && [...refusals.keys()].every(isSaidBeside)
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    place.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [problems, change.problem])

  return (
    <Dialog title={provider === null ? 'Add a provider' : `Edit ${provider.name}`} busy={change.busy} onClose={onClose}>
      <div ref={place}>
        <Form change={isAllSaid ? { ...change, problem: null } : change} onSubmit={save}>
          {provider === null && (
            <Select
              label="Type"
              value={type}
              options={types.map(one => ({ value: one, label: typeLabel(one) }))}
              onChange={chooseType}
            />
          )}
          <div class="prose">
            <p>{info.about}</p>
            {Object.keys(info.config).length > 0 && (
              <p class="soft">
                {info.where}{' '}
                {info.site && (
                  <a href={info.site.url} target="_blank" rel="noreferrer">
                    {info.site.label}
                  </a>
                )}
              </p>
            )}
          </div>
          {provider !== null && provider.config === null && (
            <Notice tone="warning">
              What is stored cannot be read: its data key is no longer configured. Fill in everything again.
            </Notice>
          )}
          {provider === null && others.length > 0 && (
            <Select<Channel>
              label="Channel"
              value={channel}
              options={wanted === null ? CHANNEL_OPTIONS : CHANNEL_OPTIONS.filter(({ value }) => value === wanted)}
              onChange={chosen => setChannel(chosen)}
              error={sentenceOf('channel', 'Channel')}
            />
          )}
          {provider === null && (
            <TextField
              label="Name"
              hint="A–Z in lower case, digits, - and _. It is part of the callback address and cannot be changed later."
              value={name}
              onInput={setName}
              monospace
              error={sentenceOf('name', 'Name')}
            />
          )}
          <ConfigFields type={type} form={form} before={before} onChange={setForm} refusals={refusals} />
          {servedChannel !== 'email' && (
            <div class="providers-countries">
              <CountryField
                label="Serves only numbers of"
                action="Add country"
                chosen={countries}
                onChoose={code => setCountries([...countries, code])}
              />
              {countries.length === 0 ? (
                <p class="hint">Without a country it serves all of them.</p>
              ) : (
                <CountryTags
                  label="Countries it serves"
                  codes={sortedByName(countries)}
                  onRemove={code => setCountries(countries.filter(one => one !== code))}
                />
              )}
            </div>
          )}
          <div class="providers-countries">
            <h3>What the vendor charges for a message</h3>
            <CountryAmounts
              amounts={cost}
              onChange={setCost}
              words={COST_WORDS}
              hasCountries={servedChannel !== 'email'}
              errorOf={code => sentenceOf(`cost_micros.${code}`, 'Cost')}
            />
          </div>
          {wasChanged && (
            <Notice tone="warning">
              Another person has changed this provider since you opened it, so nothing was saved. What they saved is
              shown now, with your edits on top. Check it, then save again.
            </Notice>
          )}
          {info.callback?.entered && <CallbackAddress type={type} appId={app.id} name={name.trim()} />}
          <SubmitActions action={provider === null ? 'Add' : 'Save'} busy={change.busy} onCancel={onClose} />
        </Form>
      </div>
    </Dialog>
  )
}

/** A config that cannot be read differs from every other, and is replaced. */
const openedWith = ({ type, countries, cost_micros, config }: Provider) => ({
  countries,
  cost_micros,
  config: config && configOf(type, formOf(type, config)).config,
})

/** What a change replaces: the same members, as they were read. */
const readOf = ({ countries, cost_micros, config }: Provider, changed: object) =>
  Object.fromEntries(
    Object.entries({ countries, cost_micros, config }).filter(([name]) => Object.hasOwn(changed, name)),
  )

const typeLabel = (type: ProviderType): string => {
  const [channel = '', ...others] = channelsOf(type)
  return `${declarationOf(type).label}, ${others.length === 0 ? channelName(channel) : 'any channel'}`
}

// The table of prices as fields. In: the saved prices. Out: all prices in one PUT. Prices that another operator has
// saved meanwhile are not overwritten: they are shown, with the own edits on top, to be saved again. Prices that cut
// companies off are confirmed first. Edits are not lost by leaving the screen: a link is asked about, and another
// company shows them again.
import { useEffect, useRef, useState } from 'preact/hooks'
import { PRICED, type Priced } from '../../../../../machines/channels.ts'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { Problem } from '../../api/problem.ts'
import { formatMicros } from '../../data/amounts.ts'
import { COUNTRY_CODES } from '../../data/countries.ts'
import { useChange } from '../../data/use-change.ts'
import { useLeaveWarning } from '../../data/use-leave-warning.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Actions } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { LeaveDialog } from '../../ui/leave-dialog.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { keepEdit, readEdit } from './kept-edit.ts'
import {
  ANY_COUNTRY,
  type CellKey,
  cellKey,
  changedCells,
  checkDraft,
  countriesOf,
  countryLabel,
  draftOf,
  listOf,
  PRICED_NAMES,
  type Prices,
  priceIn,
  pricesOf,
  rebase,
  samePrices,
  scheduleChanges,
} from './price-table.ts'
import { readAllPrices } from './read-prices.ts'
import { ScheduledPrices } from './scheduled-prices.tsx'

export interface PricesFormProps {
  saved: Prices
  onSaved(prices: Prices): void
  onCancel(): void
}

type PricesTrial = Schemas['PricesTrial']

interface Question {
  trial: PricesTrial
  wanted: Prices
  /** In: whether the prices were saved. */
  answer(isSaved: boolean | Promise<boolean>): void
}

export function PricesForm({ saved, onSaved, onCancel }: PricesFormProps) {
  const [begun] = useState(() => readEdit() ?? { base: saved, draft: draftOf(saved), rows: countriesOf(saved) })
  const [base, setBase] = useState(begun.base)
  const [draft, setDraft] = useState(begun.draft)
  const [rows, setRows] = useState(begun.rows)
  const [showErrors, setShowErrors] = useState(false)
  const [wasChanged, setWasChanged] = useState(false)
  const [question, setQuestion] = useState<Question | null>(null)
  const change = useChange()
  const say = useToast()
  const { prices, errors } = checkDraft(draft)
  const [from, setFrom] = useState('')
  const [fromError, setFromError] = useState<string | undefined>()
  const changed = changedCells(base, prices).length
  const isChanged = changed > 0 || errors.size > 0
  const warning = useLeaveWarning(isChanged)
  useEffect(() => keepEdit(isChanged ? { base, draft, rows } : null), [isChanged, base, draft, rows])

  const form = useRef<HTMLFormElement>(null)
  const setCell = (key: CellKey, text: string): void => setDraft(old => new Map(old).set(key, text))
  function remove(country: string): void {
    // The button that had the focus is gone then. The one choice of the form adds a country.
    form.current?.querySelector('select')?.focus()
    setRows(old => old.filter(one => one !== country))
    setDraft(old => new Map([...old].filter(([key]) => !PRICED.some(priced => key === cellKey(priced, country)))))
  }
  /** What is saved: the fields as they are, or with their changes for later. */
  function wantedPrices(): Prices | { error: string } {
    if (from === '') return prices
    const at = new Date(from).getTime()
    if (!(at > Date.now())) return { error: 'Choose a time in the future, or none.' }
    return (
      scheduleChanges(base, prices, new Date(at).toISOString()) ?? {
        error: 'A price can be replaced later, but not removed: set the amount that holds then.',
      }
    )
  }
  /** Resolves to whether they were saved, after the question where one is asked first. */
  async function save(): Promise<boolean> {
    setShowErrors(true)
    setWasChanged(false)
    const wanted = wantedPrices()
    setFromError('error' in wanted ? wanted.error : undefined)
    if (errors.size > 0 || 'error' in wanted) return false
    let isSaved = false
    await change.run(async () => {
      if (await showOthersChange()) return
      const found = await bodyOf(api.POST('/admin/v1/prices/try', { body: { prices: listOf(wanted) } }))
      isSaved = found.cut_off > 0 ? await ask(found, wanted) : await put(wanted)
    })
    return isSaved
  }
  const ask = (trial: PricesTrial, wanted: Prices) =>
    new Promise<boolean>(answer => {
      setQuestion({ trial, wanted, answer })
    })
  /** Resolves to whether there is one since the edit began. */
  async function showOthersChange(): Promise<boolean> {
    const fresh = await readAllPrices()
    if (samePrices(fresh, base)) return false
    setBase(fresh)
    setDraft(rebase(draft, base, fresh))
    setRows(old => [...new Set([...countriesOf(fresh), ...old])])
    setWasChanged(true)
    return true
  }
  async function put(wanted: Prices): Promise<boolean> {
    const body = { prices: listOf(wanted), replaces: listOf(base) }
    const saved = await bodyOf(api.PUT('/admin/v1/prices', { body })).catch(async thrown => {
      // Others may have saved while the question or a step-up was open.
      if (Problem.from(thrown).status === 409 && (await showOthersChange())) return null
      throw thrown
    })
    if (saved === null) return false
    onSaved(pricesOf(saved.items))
    say(
      from === ''
        ? 'The prices were saved. They apply within five seconds.'
        : 'The prices were saved. The changes hold from the time that you chose.',
    )
    return true
  }
  const [added, setAdded] = useState<string | null>(null)
  useEffect(() => {
    if (added !== null) document.getElementById(fieldId('sms', added))?.focus()
  }, [added])
  function add(country: string): void {
    setRows(old => [...old, country])
    setAdded(country)
  }
  const addable = COUNTRY_CODES.filter(country => !rows.includes(country))
  const words = question && cutOffWords(question.trial)
  return (
    <form
      ref={form}
      class="money-prices"
      aria-label="Prices"
      noValidate
      onSubmit={event => {
        event.preventDefault()
        void save()
      }}
    >
      <div class="table-frame">
        <table>
          <caption class="unseen">Prices</caption>
          <thead>
            <tr>
              <th scope="col">Country</th>
              {PRICED.map(priced => (
                <th key={priced} scope="col">
                  {PRICED_NAMES[priced]}
                </th>
              ))}
              <th scope="col">
                <span class="unseen">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(country => (
              <tr key={country}>
                <td data-label="Country">{countryLabel(country)}</td>
                {PRICED.map(priced => (
                  <td key={priced} data-label={PRICED_NAMES[priced]}>
                    <PriceField
                      priced={priced}
                      country={country}
                      text={draft.get(cellKey(priced, country)) ?? ''}
                      inherited={priceIn(prices, priced, ANY_COUNTRY)}
                      error={showErrors ? errors.get(cellKey(priced, country)) : undefined}
                      onInput={text => setCell(cellKey(priced, country), text)}
                    />
                  </td>
                ))}
                <td>
                  {country !== ANY_COUNTRY && (
                    <Button look="quiet" aria-label={`Remove ${countryLabel(country)}`} onClick={() => remove(country)}>
                      Remove
                    </Button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Select
        label="Add a country"
        value=""
        options={[
          { value: '', label: 'Choose…' },
          ...addable.map(country => ({ value: country, label: countryLabel(country) })),
        ]}
        onChange={country => country && add(country)}
      />
      <ScheduledPrices
        prices={prices}
        onWithdraw={({ key }) => setDraft(old => new Map([...old].filter(([one]) => one !== key)))}
      />
      <TextField
        type="datetime-local"
        label="Changes hold from"
        hint="Your local time. Empty: at once."
        value={from}
        error={fromError}
        onInput={setFrom}
      />
      {wasChanged && (
        <Notice tone="warning">
          <p>
            The prices have changed since you began, by another operator or because a scheduled one holds now, so
            nothing was saved. They are shown now, with your edits on top. Check them, then save again.
          </p>
        </Notice>
      )}
      {change.problem?.status === 409 ? (
        <Notice tone="bad">
          <p>Another change of the prices is under way, so nothing was saved. Your edits are still here: save again.</p>
        </Notice>
      ) : (
        change.problem && <ProblemNotice problem={change.problem} />
      )}
      <Actions>
        <Button look="primary" type="submit" busy={change.busy} disabled={!isChanged}>
          Save
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
        <span class="soft" role="status">
          {changesText(changed, errors.size)}
        </span>
      </Actions>
      {question && words && (
        <Confirm
          title={words.title}
          action="Save prices"
          cancel="Keep editing"
          perform={async () => {
            const saving = put(question.wanted)
            question.answer(saving)
            // A refusal is shown in the form, where the prices are.
            await saving.catch(() => false)
          }}
          onClose={() => {
            question.answer(false)
            setQuestion(null)
          }}
        >
          <p>{words.text}</p>
        </Confirm>
      )}
      <LeaveDialog warning={warning} busy={change.busy} save={save} discard={onCancel} />
    </form>
  )
}

function changesText(changed: number, errors: number): string {
  if (errors > 0) return errors === 1 ? 'One field is not an amount' : `${errors} fields are not amounts`
  if (changed === 0) return 'Nothing changed yet'
  return changed === 1 ? '1 price changes' : `${changed} prices change`
}

interface PriceFieldProps {
  priced: Priced
  country: string
  text: string
  inherited: number
  error: string | undefined
  onInput(text: string): void
}

const fieldId = (priced: Priced, country: string): string =>
  `price-${priced}-${country === ANY_COUNTRY ? 'any' : country}`

/** An empty field shows the price that holds instead. */
function PriceField({ priced, country, text, inherited, error, onInput }: PriceFieldProps) {
  const id = fieldId(priced, country)
  return (
    <div class={error ? 'money-cell wrong' : 'money-cell'}>
      <input
        id={id}
        type="text"
        inputMode="decimal"
        autocomplete="off"
        aria-label={`${PRICED_NAMES[priced]}, ${countryLabel(country)}`}
        aria-invalid={error ? true : undefined}
        aria-describedby={error ? `${id}-error` : undefined}
        placeholder={country === ANY_COUNTRY ? 'free' : formatMicros(inherited)}
        value={text}
        onInput={event => onInput(event.currentTarget.value)}
      />
      {error && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  )
}

/** What saving does to companies whose balance does not pay for the prices. */
function cutOffWords({ companies, cut_off }: PricesTrial): { title: string; text: string } {
  const one = cut_off === 1
  return {
    title: one ? 'Cut off 1 company?' : `Cut off ${cut_off} companies?`,
    text: `The balance of ${cut_off} of ${companies} ${companies === 1 ? 'company' : 'companies'} does not pay for messages at these prices. ${
      one ? 'Its' : 'Their'
    } live sends will be refused with 402 once the prices hold, until ${one ? 'it is' : 'they are'} credited. To avoid that, credit ${
      one ? 'it' : 'them'
    } first.`,
  }
}

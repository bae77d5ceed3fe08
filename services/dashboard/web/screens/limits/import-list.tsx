// Imports an address list from a file, a pasted text or a URL. A list that would hold most addresses is asked about once more, because it
// would refuse or slow down most users.
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { api, bodyOf } from '../../api/client.ts'
import { Problem } from '../../api/problem.ts'
import { duration } from '../../data/duration.ts'
import { useChange } from '../../data/use-change.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { describedBy, Frame, Select, TextArea, TextField } from '../../ui/field.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { RadioGroup } from '../../ui/radio-group.tsx'
import { TypedField } from '../../ui/typed-field.tsx'
import {
  type AddressClass,
  type AddressList,
  type AddressListInput,
  CLASS_WORDS,
  MAX_LIST_BYTES,
  withList,
} from './address-list-body.ts'

/** Which list is imported. */
export interface ListChoice {
  class: AddressClass
  name: string
  /** Whether class and name can be chosen. */
  isNew: boolean
}

type Way = 'text' | 'file' | 'url'

const WAYS: readonly { value: Way; label: string }[] = [
  { value: 'file', label: 'A file' },
  { value: 'text', label: 'Pasted addresses' },
  { value: 'url', label: 'An address on the web, fetched by schedule' },
]

const CLASSES = (Object.keys(CLASS_WORDS) as AddressClass[]).map(value => ({
  value,
  label: CLASS_WORDS[value].name,
}))

interface ImportListProps {
  choice: ListChoice
  onImported(lists: AddressList[]): void
  onClose(): void
}

export function ImportList({ choice, onImported, onClose }: ImportListProps) {
  const [addressClass, setClass] = useState(choice.class)
  const [name, setName] = useState(choice.name)
  const [way, setWay] = useState<Way>('file')
  const [file, setFile] = useState<File | null>(null)
  const [text, setText] = useState('')
  const [url, setUrl] = useState('')
  const [refreshSeconds, setRefreshSeconds] = useState<number | string>(86_400)
  const [missing, setMissing] = useState<string | null>(null)
  const [path, setPath] = useState('')
  const change = useChange()
  const errorOf = (member: string): string | undefined => change.errorOf(`${path}.${member}`)
  const actions = useRef<HTMLDivElement>(null)
  const needsConfirmation = /more than half of all addresses/.test(errorOf('text') ?? '')

  // On a small screen the question is below the fold.
  useEffect(() => {
    if (needsConfirmation) actions.current?.scrollIntoView({ block: 'end' })
  }, [needsConfirmation])
  /** A confirmation is for the content that was refused, not for another. */
  const edit =
    <T,>(set: (value: T) => void) =>
    (value: T): void => {
      change.reset()
      setMissing(null)
      set(value)
    }

  async function sourceOf(confirm: boolean): Promise<Partial<AddressListInput>> {
    if (way === 'url') return { url, refresh_seconds: refreshSeconds as number }
    const content = way === 'file' ? await readFile() : text
    return confirm ? { text: content, confirm } : { text: content }
  }

  async function readFile(): Promise<string> {
    try {
      return (await file?.text()) ?? ''
    } catch {
      // Browsers refuse a file that was changed, moved or removed after it was chosen.
      setFile(null)
      throw new Problem(0, { detail: 'The file cannot be read: it was changed or moved. Choose it again.' })
    }
  }

  async function put(confirm: boolean): Promise<void> {
    const problem = problemOf(way, file, text)
    setMissing(problem)
    if (problem !== null) return
    await change.run(async () => {
      const source = await sourceOf(confirm)
      // Read just before: a PUT replaces all lists, and another operator may have added one.
      const { items } = await bodyOf(api.GET('/admin/v1/ip-lists'))
      const { body, path } = withList(items, { class: addressClass, name, ...source })
      setPath(path)
      onImported((await bodyOf(api.PUT('/admin/v1/ip-lists', { body }))).items)
    })
  }

  return (
    <Dialog
      title={choice.isNew ? 'Import an address list' : `Replace ${CLASS_WORDS[addressClass].name} ${name}`}
      busy={change.busy}
      onClose={onClose}
    >
      <form
        class="form"
        noValidate
        onSubmit={event => {
          event.preventDefault()
          void put(false)
        }}
      >
        {choice.isNew && (
          <>
            <Select
              label="Class"
              hint={CLASS_WORDS[addressClass].meaning}
              value={addressClass}
              options={CLASSES}
              onChange={edit<AddressClass>(setClass)}
            />
            <TextField
              label="Name"
              hint="A list of the same class and name is replaced."
              value={name}
              onInput={edit(setName)}
              error={errorOf('name')}
            />
          </>
        )}
        <RadioGroup label="From" value={way} options={WAYS} onChange={edit<Way>(setWay)} />
        {way === 'file' && <FileField file={file} onChoose={edit(setFile)} error={missing ?? undefined} />}
        {way === 'text' && (
          <TextArea
            label="Addresses"
            hint="One address or range per line, such as 45.95.147.0/24. Comments follow # or ;."
            rows={8}
            monospace
            value={text}
            onInput={edit(setText)}
            error={missing ?? (needsConfirmation ? undefined : errorOf('text'))}
          />
        )}
        {way === 'url' && (
          <>
            <TextField
              label="URL"
              type="url"
              hint="A text with one address or range per line. Its query may hold a key, and is not shown again."
              placeholder="https://lists.example/exits.txt"
              value={url}
              onInput={setUrl}
              error={errorOf('url')}
            />
            <TypedField
              label="Fetched every"
              notation={duration}
              value={refreshSeconds}
              onInput={setRefreshSeconds}
              error={errorOf('refresh_seconds')}
              refusal="Must be from 1 minute to 30 days, such as “1 day”."
            />
          </>
        )}
        {change.busy && (
          <div class="limits-uploading">
            <span>Uploading and checking…</span>
            <progress aria-label="Upload" />
          </div>
        )}
        {needsConfirmation ? (
          <MostAddresses addressClass={addressClass} />
        ) : (
          change.problem && <ProblemNotice problem={change.problem} />
        )}
        <div class="actions" ref={actions}>
          {needsConfirmation ? (
            <Button look="danger" busy={change.busy} onClick={() => put(true)}>
              Import it all the same
            </Button>
          ) : (
            <Button look="primary" type="submit" busy={change.busy}>
              Import
            </Button>
          )}
          <Button disabled={change.busy} onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

const MostAddresses = ({ addressClass }: { addressClass: AddressClass }) => (
  <Notice tone="warning">
    <p>
      <b>This list holds more than half of all addresses, alone or with the others of its class.</b>
    </p>
    <p>
      {addressClass === 'abusive'
        ? 'Most of your users would be refused.'
        : 'Most of your users would have the lower limit.'}{' '}
      Nothing was changed yet. Often a line such as 0.0.0.0/0 is to blame.
    </p>
  </Notice>
)

function problemOf(way: Way, file: File | null, text: string): string | null {
  if (way === 'url') return null
  const size = way === 'file' ? (file?.size ?? null) : new Blob([text]).size
  if (size === null) return 'Choose a file.'
  if (size === 0) return way === 'file' ? 'The file is empty.' : 'Paste at least one address.'
  return size > MAX_LIST_BYTES ? 'It has more than 32 MiB. Split it into several lists.' : null
}

interface FileFieldProps {
  file: File | null
  onChoose(file: File | null): void
  error: string | undefined
}

function FileField({ file, onChoose, error }: FileFieldProps) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  // A browser reports no change when the file that the field still names is chosen again.
  useEffect(() => {
    if (file === null && input.current) input.current.value = ''
  }, [file])
  const hint = file
    ? `${file.name}, ${Math.ceil(file.size / 1024).toLocaleString('en')} KiB`
    : 'One address or range per line. Comments follow # or ;.'
  return (
    <Frame id={id} label="File" hint={hint} error={error}>
      <input
        ref={input}
        id={id}
        type="file"
        accept=".txt,.csv,.list,.netset,.ipset,text/plain"
        aria-invalid={error ? true : undefined}
        aria-describedby={describedBy(id, { hint, error })}
        onChange={event => onChoose(event.currentTarget.files?.[0] ?? null)}
      />
    </Frame>
  )
}

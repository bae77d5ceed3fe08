// A choice among many: a button that shows what is chosen, and a dialog with a search field. The list is read while the
// dialog is open, page by page, so that its beginning can be used at once.
import { useState } from 'preact/hooks'
import type { ReadPage } from '../data/use-pages.ts'
import { Badge } from '../ui/badge.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { ProblemNotice } from '../ui/notice.tsx'
import { matching } from './matching.ts'
import { useAllPages } from './use-all-pages.ts'

export interface Choice {
  id: string
  name: string
  closed_at: string | null
}

export interface SearchableChoiceProps {
  label: string
  /** The title of the dialog, such as "Choose a company". */
  title: string
  chosen: Choice
  onChoose(id: string): void
  readPage: ReadPage<Choice>
}

/** More are not looked through by eye. */
const MAX_SHOWN = 50

export function SearchableChoice(props: SearchableChoiceProps) {
  const [isOpen, setIsOpen] = useState(false)
  const { label, chosen } = props
  return (
    <>
      {/* A combobox is named by its label and has what it shows as its value, as a select has. */}
      <button
        type="button"
        role="combobox"
        class="tenant-choice"
        aria-label={label}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(true)}
      >
        {chosen.name}
      </button>
      {isOpen && <ChoiceDialog {...props} onClose={() => setIsOpen(false)} />}
    </>
  )
}

function ChoiceDialog({ title, chosen, onChoose, readPage, onClose }: SearchableChoiceProps & { onClose(): void }) {
  const [search, setSearch] = useState('')
  const { items: choices, problem, isComplete } = useAllPages(readPage)
  const found = matching(choices, search)
  const choose = ({ id }: Choice) => {
    onClose()
    onChoose(id)
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={event => {
          event.preventDefault()
          if (found[0]) choose(found[0])
        }}
      >
        <TextField
          label="Search"
          type="search"
          hint="By name or id. Enter chooses the first."
          value={search}
          onInput={setSearch}
          autofocus
        />
      </form>
      {problem && <ProblemNotice problem={problem} />}
      <ul class="tenant-choices">
        {found.slice(0, MAX_SHOWN).map(choice => (
          <li key={choice.id}>
            <button type="button" aria-current={choice.id === chosen.id} onClick={() => choose(choice)}>
              <span>{choice.name}</span>
              {choice.closed_at && <Badge>closed</Badge>}
              <code class="soft">{choice.id}</code>
            </button>
          </li>
        ))}
      </ul>
      <p class="soft" role="status">
        {countWords(found.length, isComplete)}
      </p>
    </Dialog>
  )
}

function countWords(found: number, isComplete: boolean): string {
  if (!isComplete) return 'Reading the list…'
  if (found === 0) return 'None has this name or id.'
  return found > MAX_SHOWN ? `${MAX_SHOWN} of ${found} are shown. Type more to find the others.` : `${found} found.`
}

// A form: Enter submits it. A refusal is said beside the fields it is about; what is about no field of the form is said at its end.
import type { ComponentChildren } from 'preact'
import type { Change } from '../data/use-change.ts'
import { Notice, ProblemNotice } from './notice.tsx'

export interface FormProps {
  /** Shows why the last submission was refused. */
  change: Change
  onSubmit(): void
  children: ComponentChildren
  /** For a form that is one row, such as a search. */
  inline?: boolean
  /** Names the form for assistive technology. */
  label?: string
}

export function Form({ change, onSubmit, children, inline = false, label }: FormProps) {
  return (
    <form
      class={inline ? 'form inline' : 'form'}
      aria-label={label}
      // Refusals in words beside the field are the server's; the browser's own bubbles would hide them.
      noValidate
      onSubmit={event => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
      <Refusal change={change} />
    </form>
  )
}

function Refusal({ change }: { change: Change }) {
  const { problem } = change
  if (problem === null) return null
  if (problem.fields.size === 0) return <ProblemNotice problem={problem} />
  const elsewhere = change.fieldsElsewhere()
  if (elsewhere.length === 0)
    return (
      <p class="unseen" role="alert">
        Something in this form needs another value.
      </p>
    )
  return (
    <Notice tone="bad">
      {elsewhere.map(([path, message]) => (
        <p key={path}>
          <code>{path}</code> {message}
        </p>
      ))}
    </Notice>
  )
}

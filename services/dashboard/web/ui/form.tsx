// A form: Enter submits it, a refusal is said above its buttons, and announced.
import type { ComponentChildren } from 'preact'
import type { Change } from '../data/use-change.ts'
import { ProblemNotice } from './notice.tsx'

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
      {change.problem && <ProblemNotice problem={change.problem} />}
    </form>
  )
}

// One step of signing in: a field and its button. In: what is sent. Out: the words of a refusal beside the field, with
// the focus in it; what is not about the field, such as too many tries, is said below.
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Problem } from '../../api/problem.ts'
import type { Change } from '../../data/use-change.ts'
import { Button } from '../../ui/button.tsx'
import { TextField, type TextFieldProps } from '../../ui/field.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'

/** Refusals of what was typed: the token, the address or the code. */
const ABOUT_THE_FIELD = new Set([401, 422])

export interface EntryFormProps {
  field: TextFieldProps
  button: string
  look?: 'primary' | 'plain'
  change: Change
  /** What to say beside the field when it was refused. */
  wordsOf(problem: Problem): string
  onSubmit(): void
  /** Takes the focus when it appears. */
  focused?: boolean
  children?: ComponentChildren
}

export function EntryForm(props: EntryFormProps) {
  const { field, button, look = 'primary', change, wordsOf, onSubmit, focused = false, children } = props
  const form = useRef<HTMLFormElement>(null)
  const { problem } = change
  const isAboutField = problem !== null && ABOUT_THE_FIELD.has(problem.status)
  const focusField = () => form.current?.querySelector('input')?.focus()
  // Before the next paint: a key that is pressed at once goes into the field.
  useLayoutEffect(() => {
    if (focused || isAboutField) focusField()
  }, [focused, problem])
  return (
    <form
      ref={form}
      class="form"
      // The words beside the field are ours; the browser's own bubbles would hide them.
      noValidate
      onSubmit={event => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <TextField {...field} error={isAboutField ? wordsOf(problem) : undefined} />
      {problem && !isAboutField && <ProblemNotice problem={problem} />}
      <div class="actions">
        <Button look={look} type="submit" busy={change.busy}>
          {button}
        </Button>
        {children}
      </div>
    </form>
  )
}

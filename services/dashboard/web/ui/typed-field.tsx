// A field for a value that is no text: a number, a span of time, a list. In: the value and how it is written. Out: the value, or what was
// typed as long as it is none.
import { useState } from 'preact/hooks'
import type { Notation } from '../data/notation.ts'
import { sameValue } from '../data/settings-patch.ts'
import { TextArea, type TextAreaProps, TextField, type TextFieldProps } from './field.tsx'

interface Typed<T> {
  value: T | string
  onInput(value: T | string): void
  notation: Notation<T>
  /** Said in place of the server's words, which may be about another notation. */
  refusal?: string | undefined
}

/** What was typed stays as it was typed: 0.50 does not become 0.5 under the viewer's hands. */
function useTypedText<T>({ value, onInput, notation }: Pick<Typed<T>, 'value' | 'onInput' | 'notation'>) {
  const [typed, setTyped] = useState('')
  const isTyped = sameValue(notation.parse(typed) ?? typed, value)
  return {
    text: isTyped ? typed : typeof value === 'string' ? value : notation.format(value),
    onText(text: string) {
      setTyped(text)
      onInput(notation.parse(text) ?? text)
    },
  }
}

export type TypedFieldProps<T> = Omit<TextFieldProps, 'value' | 'onInput' | 'type'> & Typed<T>

export function TypedField<T>({ value, onInput, notation, refusal, error, ...rest }: TypedFieldProps<T>) {
  const { text, onText } = useTypedText({ value, onInput, notation })
  return <TextField {...rest} value={text} onInput={onText} error={error && (refusal ?? error)} />
}

export type TypedAreaProps<T> = Omit<TextAreaProps, 'value' | 'onInput'> & Typed<T>

export function TypedArea<T>({ value, onInput, notation, refusal, error, ...rest }: TypedAreaProps<T>) {
  const { text, onText } = useTypedText({ value, onInput, notation })
  return <TextArea {...rest} value={text} onInput={onText} error={error && (refusal ?? error)} />
}

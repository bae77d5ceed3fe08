// A modal dialog, by the browser's own element: it traps the focus, Escape closes it, and the focus returns to where it
// was, or to the content of the page when that is gone. A click outside it does nothing.
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from './button.tsx'

export interface DialogProps {
  title: string
  onClose(): void
  children: ComponentChildren
  /** For tables and timelines. */
  wide?: boolean
  /** Only its buttons close it: it shows what cannot be shown again. */
  staysOnEscape?: boolean
  /** Nothing closes it while its change is under way: a refusal would be seen by no one, and its end would close the next dialog. */
  busy?: boolean
}

/** Is open as long as it is rendered. */
export function Dialog({ title, onClose, children, wide = false, staysOnEscape = false, busy = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useLayoutEffect(() => {
    const before = document.activeElement
    const dialog = element.current
    dialog?.showModal()
    return () => {
      // As long as it is open, nothing outside it takes the focus.
      dialog?.close()
      if (before instanceof HTMLElement) before.focus()
      // What closes the dialog may remove or disable that element in the same rendering.
      queueMicrotask(() => {
        if (document.activeElement === document.body) document.querySelector('main')?.focus()
      })
    }
  }, [])
  const close = () => {
    if (!busy) onClose()
  }
  const ignoresEscape = staysOnEscape || busy
  // A browser lets a page keep a dialog open at the first Escape, not at a second one.
  useLayoutEffect(() => {
    if (!ignoresEscape) return
    const ignoreEscape = (event: KeyboardEvent) => {
      const inDialog = event.target instanceof Element ? event.target.closest('dialog') : null
      // A change may ask for a step-up, whose dialog lies above this one.
      const isAbove = inDialog !== null && inDialog !== element.current
      if (event.key === 'Escape' && !isAbove) event.preventDefault()
    }
    addEventListener('keydown', ignoreEscape)
    return () => removeEventListener('keydown', ignoreEscape)
  }, [ignoresEscape])
  return (
    <dialog
      ref={element}
      class={wide ? 'dialog wide' : 'dialog'}
      aria-labelledby={titleId}
      onCancel={event => {
        event.preventDefault()
        if (!ignoresEscape) onClose()
      }}
    >
      <header>
        <h2 id={titleId}>{title}</h2>
        <Button look="quiet" aria-label="Close" onClick={close}>
          ✕
        </Button>
      </header>
      {children}
    </dialog>
  )
}

/** The buttons at the end of a dialog or form, the most important one first in reading order. */
export function Actions({ children }: { children: ComponentChildren }) {
  return <div class="actions">{children}</div>
}

export interface SubmitActionsProps {
  /** The button's name says what it does, such as "Create app". */
  action: string
  look?: 'primary' | 'danger'
  busy?: boolean
  disabled?: boolean
  onCancel(): void
}

/** The end of a form in a dialog: the button that submits it, and the way out. */
export function SubmitActions(props: SubmitActionsProps) {
  const { action, look = 'primary', busy = false, disabled = false, onCancel } = props
  return (
    <Actions>
      <Button look={look} type="submit" busy={busy} disabled={disabled}>
        {action}
      </Button>
      <Button disabled={busy} onClick={onCancel}>
        Cancel
      </Button>
    </Actions>
  )
}

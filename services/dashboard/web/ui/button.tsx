// Buttons. A busy button keeps its size, its name and the focus, and cannot be pressed again.
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'

export interface ButtonProps extends Omit<ButtonHTMLAttributes, 'class' | 'disabled' | 'icon'> {
  /** `primary`: the one thing to do here. `danger`: takes something away, also where it asks first. `quiet`: in rows and toolbars. */
  look?: 'primary' | 'plain' | 'danger' | 'quiet' | 'quiet danger'
  busy?: boolean
  disabled?: boolean
  children: ComponentChildren
}

export function Button({
  look = 'plain',
  busy = false,
  disabled = false,
  type = 'button',
  onClick,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      class={`button ${look}`}
      disabled={disabled}
      // A disabled button would lose the focus.
      aria-disabled={busy ? true : undefined}
      aria-busy={busy}
      onClick={event => {
        // Enter in a field of the form presses its button, too.
        if (busy) event.preventDefault()
        else onClick?.(event)
      }}
    >
      {children}
    </button>
  )
}

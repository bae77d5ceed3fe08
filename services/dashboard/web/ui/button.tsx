// Buttons. A busy button keeps its size and its name, and cannot be pressed again.
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'

export interface ButtonProps extends Omit<ButtonHTMLAttributes, 'class' | 'disabled' | 'icon'> {
  /** `primary`: the one thing to do here. `danger`: cannot be undone. `quiet`: in rows and toolbars. */
  look?: 'primary' | 'plain' | 'danger' | 'quiet'
  busy?: boolean
  disabled?: boolean
  children: ComponentChildren
}

export function Button({
  look = 'plain',
  busy = false,
  disabled = false,
  type = 'button',
  children,
  ...rest
}: ButtonProps) {
  return (
    <button {...rest} type={type} class={`button ${look}`} disabled={disabled || busy} aria-busy={busy}>
      {children}
    </button>
  )
}

// A part of a screen with a heading of its own.
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

export interface CardProps {
  title: string
  /** Beside the heading. */
  actions?: ComponentChildren
  /** A sentence below the heading. */
  lead?: ComponentChildren
  children: ComponentChildren
}

export function Card({ title, actions, lead, children }: CardProps) {
  const id = useId()
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <div>
          <h2 id={id}>{title}</h2>
          {lead && <p class="soft">{lead}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  )
}

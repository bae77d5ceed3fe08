// The frame of a screen: its heading, what it is for, and its main actions.
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'

export interface ScreenProps {
  title: string
  lead?: ComponentChildren
  actions?: ComponentChildren
  children: ComponentChildren
}

export function Screen({ title, lead, actions, children }: ScreenProps) {
  useEffect(() => {
    document.title = `${title} · Countersign`
  }, [title])
  return (
    <div class="screen">
      <header class="screen-header">
        <div>
          <h1>{title}</h1>
          {lead && <p class="soft">{lead}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

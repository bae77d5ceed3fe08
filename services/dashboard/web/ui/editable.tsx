// The editable part of a screen. Where the viewer's role may not change it, everything in it is disabled.
import type { ComponentChildren } from 'preact'
import './editable.css'

export function Editable({ may, children }: { may: boolean; children: ComponentChildren }) {
  return (
    <fieldset class="editable" disabled={!may}>
      {children}
    </fieldset>
  )
}

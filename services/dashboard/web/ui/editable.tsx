// The editable part of a screen. Where the viewer's role may not change it, everything in it is disabled.
import type { ComponentChildren } from 'preact'
import { useMay } from '../data/session.tsx'
import './editable.css'

export function Editable({ children }: { children: ComponentChildren }) {
  const may = useMay('developer')
  return (
    <fieldset class="editable" disabled={!may}>
      {children}
    </fieldset>
  )
}

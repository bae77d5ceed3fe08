// Tabs that are addresses: each can be shared, and Back goes from one to the other. By keyboard: arrows, Home and End.
import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'

export interface TabsProps<T extends string> {
  /** What the tabs are of; read out. */
  label: string
  tabs: readonly { id: T; name: string; href: string }[]
  chosen: T
  /** What the chosen tab shows. */
  children: ComponentChildren
}

export function Tabs<T extends string>({ label, tabs, chosen, children }: TabsProps<T>) {
  const id = useId()
  const { route } = useLocation()
  const list = useRef<HTMLDivElement>(null)

  function moveTo(nth: number): void {
    const tab = tabs.at(nth % tabs.length)
    if (!tab) return
    route(tab.href)
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[tabs.indexOf(tab)]?.focus()
  }
  function onKeyDown(event: KeyboardEvent): void {
    const now = tabs.findIndex(tab => tab.id === chosen)
    const target = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: tabs.length - 1 }[event.key]
    if (target === undefined) return
    event.preventDefault()
    moveTo(target)
  }
  return (
    <>
      <div class="verifications-tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map(tab => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}-${tab.id}`}
            aria-selected={tab.id === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={tab.id === chosen ? 0 : -1}
            onClick={() => route(tab.href)}
          >
            {tab.name}
          </button>
        ))}
      </div>
      <div class="verifications-panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </>
  )
}

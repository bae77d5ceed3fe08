// Drags a row of a list to another place with a mouse, a pen or a finger. In: the list's element and its order. Out:
// the row that is dragged, and new orders while it moves. The rest of the page needs no pointer: the same moves have
// buttons.
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { moveTo, placeAt } from '../../data/order.ts'

export interface RowDragOptions<T extends string> {
  list: RefObject<HTMLElement | null>
  order: readonly T[]
  onChange(order: T[]): void
  /** The row was dropped at another place than it came from. */
  onDrop(item: T): void
}

export function useRowDrag<T extends string>(options: RowDragOptions<T>) {
  const [dragged, setDragged] = useState<T | null>(null)
  const latest = useRef(options)
  latest.current = options
  const stop = useRef<(() => void) | null>(null)
  useEffect(() => () => stop.current?.(), [])

  function start(item: T): void {
    const before = latest.current.order
    // The rows themselves move in the document while one is dragged, so the window listens.
    const listeners = new AbortController()
    const { signal } = listeners
    function end(): void {
      listeners.abort()
      stop.current = null
      setDragged(null)
    }
    function onMove(event: PointerEvent): void {
      const { list, order, onChange } = latest.current
      const middles = [...(list.current?.children ?? [])]
        .filter(row => row.getAttribute('data-item') !== item)
        .map(row => row.getBoundingClientRect())
        .map(({ top, height }) => top + height / 2)
      const moved = moveTo(order, item, placeAt(event.clientY, middles))
      if (moved.join() !== order.join()) onChange(moved)
    }
    function drop(): void {
      end()
      const { order, onDrop } = latest.current
      if (order.join() !== before.join()) onDrop(item)
    }
    function cancel(): void {
      end()
      latest.current.onChange([...before])
    }
    function onKey(event: KeyboardEvent): void {
      if (event.key === 'Escape') cancel()
    }
    window.addEventListener('pointermove', onMove, { signal })
    window.addEventListener('pointerup', drop, { signal })
    window.addEventListener('pointercancel', cancel, { signal })
    window.addEventListener('keydown', onKey, { signal })
    stop.current = end
    setDragged(item)
  }

  return {
    dragged,
    onPointerDown(event: PointerEvent, item: T): void {
      const target = event.target as Element
      if (event.button !== 0 || target.closest('button')) return
      // A finger on the rest of the row scrolls the page.
      if (event.pointerType !== 'mouse' && !target.closest('[data-grip]')) return
      // No text is selected on the way.
      event.preventDefault()
      start(item)
    },
  }
}

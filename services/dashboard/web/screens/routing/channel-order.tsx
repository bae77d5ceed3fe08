// The order in which channels are tried: rows that move by buttons and by dragging, and channels that are left out. A moved row keeps the
// focus, and the move is announced.
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { CHANNELS } from '../../../../../machines/channels.ts'
import { CHANNEL_NAMES, type Channel } from '../../data/channels.ts'
import { moveTo } from '../../data/order.ts'
import { useMay } from '../../data/session.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { useRowDrag } from './use-row-drag.ts'

export interface ChannelOrderProps {
  /** The accessible name of the list. */
  label: string
  order: readonly Channel[]
  onChange(order: Channel[]): void
  /** Why a channel is skipped, in a word or two. */
  noteOf(channel: Channel): string | null
}

type Control = 'up' | 'down' | 'out' | 'in'

export function ChannelOrder({ label, order, onChange, noteOf }: ChannelOrderProps) {
  const may = useMay('developer')
  const list = useRef<HTMLOListElement>(null)
  const frame = useRef<HTMLDivElement>(null)
  const id = useId()
  const [said, setSaid] = useState('')
  const wantedFocus = useRef<{ channel: Channel; controls: Control[] } | null>(null)
  const { dragged, onPointerDown } = useRowDrag({
    list,
    order,
    onChange,
    onDrop: channel => sayPlace(channel, order.indexOf(channel), order.length),
  })

  // The browser takes the focus from a row that moves in the document, and from a button that becomes disabled.
  useLayoutEffect(() => {
    const wanted = wantedFocus.current
    wantedFocus.current = null
    for (const control of wanted?.controls ?? []) {
      const button = frame.current?.querySelector<HTMLButtonElement>(
        `[data-item="${wanted?.channel}"] [data-control="${control}"]:not(:disabled)`,
      )
      if (button) return button.focus()
    }
  })

  const sayPlace = (channel: Channel, place: number, of: number): void =>
    setSaid(`${CHANNEL_NAMES[channel]} is now ${place + 1} of ${of}.`)

  function change(channel: Channel, next: Channel[], controls: Control[]): void {
    wantedFocus.current = { channel, controls }
    onChange(next)
    if (next.includes(channel)) sayPlace(channel, next.indexOf(channel), next.length)
    else setSaid(`${CHANNEL_NAMES[channel]} is left out.`)
  }
  const move = (channel: Channel, by: 1 | -1): void =>
    change(channel, moveTo(order, channel, order.indexOf(channel) + by), by < 0 ? ['up', 'down'] : ['down', 'up'])

  const leftOut = CHANNELS.filter(channel => !order.includes(channel))
  return (
    <div class="routing-order" ref={frame}>
      {/* biome-ignore lint/a11y/noRedundantRoles: Safari takes the role from a list without markers */}
      <ol ref={list} role="list" aria-label={label}>
        {order.map((channel, place) => (
          <li
            key={channel}
            data-item={channel}
            class={dragged === channel ? 'dragged' : undefined}
            onPointerDown={event => may && onPointerDown(event, channel)}
          >
            <span class="routing-grip" data-grip aria-hidden="true" />
            <span class="routing-place" aria-hidden="true">
              {place + 1}
            </span>
            <span class="routing-channel">
              <b id={`${id}-${channel}`}>{CHANNEL_NAMES[channel]}</b>
              {noteOf(channel) && <Badge tone="warning">{noteOf(channel)}</Badge>}
            </span>
            <span class="routing-moves">
              <Button
                look="quiet"
                title="Move up"
                aria-label="Move up"
                aria-describedby={`${id}-${channel}`}
                data-control="up"
                disabled={place === 0}
                onClick={() => move(channel, -1)}
              >
                ↑
              </Button>
              <Button
                look="quiet"
                title="Move down"
                aria-label="Move down"
                aria-describedby={`${id}-${channel}`}
                data-control="down"
                disabled={place === order.length - 1}
                onClick={() => move(channel, 1)}
              >
                ↓
              </Button>
              <Button
                look="quiet"
                title="Leave out"
                aria-label="Leave out"
                aria-describedby={`${id}-${channel}`}
                data-control="out"
                onClick={() =>
                  change(
                    channel,
                    order.filter(one => one !== channel),
                    ['in'],
                  )
                }
              >
                ✕
              </Button>
            </span>
          </li>
        ))}
      </ol>
      {order.length === 0 && <p class="error">Every send is refused while the order is empty.</p>}
      {leftOut.length > 0 && (
        <p class="routing-left-out">
          <span class="hint">Left out, used only when a resend names it:</span>
          {leftOut.map(channel => (
            <span key={channel} data-item={channel}>
              <Button
                look="quiet"
                data-control="in"
                onClick={() => change(channel, [...order, channel], ['up', 'down', 'out'])}
              >
                Add {CHANNEL_NAMES[channel]}
              </Button>
            </span>
          ))}
        </p>
      )}
      <p class="unseen" role="status">
        {said}
      </p>
    </div>
  )
}

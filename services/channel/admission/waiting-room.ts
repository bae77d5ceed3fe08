// The places in which the messages of a channel wait for a slot of their provider. In: who wants one. Out: a place, or none. Waiting messages
// take up the channel's prefetch, so all providers share one number of places, by the rule of docs/decisions/overload.md#sharing: a provider
// may hold at most as many as it leaves free. So no provider takes the places that another one needs.

export interface WaitingRoom {
  /** Whether a provider that holds so many places may take one more. */
  hasPlaceFor(held: number): boolean
  /** Takes a place, until the returned function is called. `sendAway` is called if the room is closed before. */
  enter(sendAway: () => void): () => void
  /** Sends everyone away. There are no places until it is opened again. */
  close(): void
  open(): void
}

export function createWaitingRoom(places: number): WaitingRoom {
  /** How to send away each that waits. */
  const waiting = new Set<() => void>()
  let isOpen = true
  return {
    hasPlaceFor: held => isOpen && held < places - waiting.size,
    enter(sendAway) {
      waiting.add(sendAway)
      return () => waiting.delete(sendAway)
    },
    close() {
      isOpen = false
      for (const sendAway of [...waiting]) sendAway()
    },
    open() {
      isOpen = true
    },
  }
}

// Shares a key of Try it between the tabs of one browser and person, so that each tab needs none of its own. A key goes from page to page
// and is stored in no place that outlasts the tab.
import { readInTab, storeInTab, tabOwner } from '../../data/browser-storage.ts'

/** The time that another tab has to answer. Without another tab, the first send waits so long, once. */
const ANSWER_MS = 200

type Message = { owner: string | null; name: string } & ({ ask: true; refused: string | null } | { key: string })

const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('countersign try it')

const waiting = new Map<string, (key: string) => void>()

channel?.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  if (data.owner !== tabOwner()) return
  const { name } = data
  const stored = readInTab(name)
  if ('key' in data) {
    // A tab that has a key takes the new one in its place: the old one is revoked.
    if (stored !== null || waiting.has(name)) storeInTab(name, data.key)
    waiting.get(name)?.(data.key)
  } else if (stored !== null) {
    if (stored === data.refused) storeInTab(name, null)
    else tellTabs(name, stored)
  }
})

export const tellTabs = (name: string, key: string): void => send({ owner: tabOwner(), name, key })

/** The key that another tab holds under this name, and that is not the one just refused. Null when none answers. */
export async function askTabs(name: string, refused: string | null): Promise<string | null> {
  if (channel === null) return null
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    return await new Promise<string | null>(resolve => {
      waiting.set(name, resolve)
      timer = setTimeout(() => resolve(null), ANSWER_MS)
      send({ owner: tabOwner(), name, ask: true, refused })
    })
  } finally {
    clearTimeout(timer)
    waiting.delete(name)
  }
}

/** One tab at a time, where the browser can: it has locks on https and on localhost. */
export const inTurn = <T>(name: string, work: () => Promise<T>): Promise<T> =>
  'locks' in navigator ? (navigator.locks.request(name, work) as Promise<T>) : work()

const send = (message: Message): void => channel?.postMessage(message)

// What the browser remembers: between visits, and in this tab until the viewer signs out or, of a secret, has copied it. Without storage,
// as in some private windows, nothing is remembered, and nothing breaks.

type Remembered = 'theme' | 'company' | 'app'

export const readStored = (name: Remembered): string | null => read(() => localStorage, name)

export const store = (name: Remembered, value: string | null): void => write(() => localStorage, name, value)

/** Reads what this tab alone has stored. */
export const readInTab = (name: string): string | null => read(() => sessionStorage, name)

export const storeInTab = (name: string, value: string | null): void => write(() => sessionStorage, name, value)

const OWNER = 'owner'

/** Whose tab it is. */
export const tabOwner = (): string | null => readInTab(OWNER)

/** Forgets what the tab remembers of another person: drafts and test keys are the owner's alone. */
export function claimTab(owner: string): void {
  if (readInTab(OWNER) === owner) return
  clearTab()
  storeInTab(OWNER, owner)
}

export function clearTab(): void {
  shownOnce.clear()
  updateCloseWarning()
  try {
    sessionStorage.clear()
  } catch {
    // Then nothing was remembered.
  }
}

/** What cannot be shown again, in the memory of the page alone: a secret is not written to the disk of a viewer. */
const shownOnce = new Map<string, string>()

export const readShownOnce = (name: string): string | null => shownOnce.get(name) ?? null

export function keepShownOnce(name: string, value: string | null): void {
  if (value === null) shownOnce.delete(name)
  else shownOnce.set(name, value)
  updateCloseWarning()
}

const askBeforeClosing = (event: BeforeUnloadEvent): void => event.preventDefault()

/** A page that listens for nothing is kept by the browser on the way back. */
function updateCloseWarning(): void {
  if (shownOnce.size > 0) window.addEventListener('beforeunload', askBeforeClosing)
  else window.removeEventListener('beforeunload', askBeforeClosing)
}

// Even to name a blocked storage throws.
function read(storage: () => Storage, name: string): string | null {
  try {
    return storage().getItem(name)
  } catch {
    return null
  }
}

function write(storage: () => Storage, name: string, value: string | null): void {
  try {
    if (value === null) storage().removeItem(name)
    else storage().setItem(name, value)
  } catch {
    // Then it holds as long as the page.
  }
}

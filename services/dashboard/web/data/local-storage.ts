// What the browser remembers between visits. Without storage, as in some private windows, nothing is remembered.

type Remembered = 'theme' | 'company' | 'app'

export function readStored(name: Remembered): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

export function store(name: Remembered, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(name)
    else localStorage.setItem(name, value)
  } catch {
    // Then it holds for this visit.
  }
}

// What the browser remembers: between visits, or until the tab is closed. Without storage, as in some private windows, nothing is
// remembered.

export interface Memory {
  read(name: string): string | null
  write(name: string, value: string): void
}

const memoryOf = (storage: () => Storage): Memory => ({
  read(name) {
    try {
      return storage().getItem(name)
    } catch {
      return null
    }
  },
  write(name, value) {
    try {
      storage().setItem(name, value)
    } catch {
      // Then it holds until the page is left.
    }
  },
})

export const betweenVisits = memoryOf(() => localStorage)

export const untilTabCloses = memoryOf(() => sessionStorage)

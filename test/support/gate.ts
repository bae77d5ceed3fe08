/** What waits for `released` goes on at `release`. */
export function createGate(): { released: Promise<void>; release(): void } {
  let release = (): void => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  return { released, release }
}

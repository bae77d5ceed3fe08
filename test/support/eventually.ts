// Waits for a condition instead of sleeping. In: an assertion. Out: its value as soon as it holds; its last error when time is up.
export async function eventually<T>(assertion: () => T | Promise<T>, withinMs = 30_000): Promise<T> {
  const deadline = performance.now() + withinMs
  for (;;) {
    try {
      return await assertion()
    } catch (failure) {
      if (performance.now() > deadline) throw failure
      await new Promise(resolve => setTimeout(resolve, 10))
    }
  }
}

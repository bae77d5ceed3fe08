// One at a time per key, in this process. Not a lock: other processes are kept apart by conditional writes. It only spares those
// who would race each other here the lost races.
export function createSerialRunner(): <Result>(key: string, task: () => Promise<Result>) => Promise<Result> {
  const last = new Map<string, Promise<unknown>>()
  return (key, task) => {
    const before = last.get(key)
    const running = before === undefined ? task() : before.then(task, task)
    last.set(key, running)
    const forget = () => {
      if (last.get(key) === running) last.delete(key)
    }
    running.then(forget, forget)
    return running
  }
}

// Runs the tasks of one key one after another within this process. It is not a lock: conditional writes protect against other processes.
// It only avoids races that this process would lose against itself.
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

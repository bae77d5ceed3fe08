// Counts the bytes that a process allocates on its heap, and the time that the garbage collector stops it. It is loaded before a program
// (`node --import`), of this checkout or of another. On SIGWINCH it prints both so far. What a collection frees, and how long it takes, is
// known from the collector's own statistics.
import process from 'node:process'
import v8 from 'node:v8'

let collections = startProfiler()
let usedAfterLast = process.memoryUsage().heapUsed
let allocated = 0
let collectorMs = 0
let asked = 0

process.on('SIGWINCH', () => {
  for (const { beforeGC, afterGC, cost } of collections.stop()?.statistics ?? []) {
    allocated += beforeGC.heapStatistics.usedHeapSize - usedAfterLast
    usedAfterLast = afterGC.heapStatistics.usedHeapSize
    collectorMs += cost / 1_000
  }
  const used = process.memoryUsage().heapUsed
  allocated += used - usedAfterLast
  usedAfterLast = used
  collections = startProfiler()
  asked += 1
  console.log(JSON.stringify({ asked, allocated, collectorMs }))
})

function startProfiler(): v8.GCProfiler {
  const profiler = new v8.GCProfiler()
  profiler.start()
  return profiler
}

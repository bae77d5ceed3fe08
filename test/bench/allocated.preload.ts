// Counts the bytes that a process allocates on its heap. It is loaded before a program (`node --import`), of this checkout or of another.
// On SIGWINCH it prints how many there were so far. What a collection frees is known from the collector's own statistics.
import process from 'node:process'
import v8 from 'node:v8'

let collections = startProfiler()
let usedAfterLast = process.memoryUsage().heapUsed
let allocated = 0
let asked = 0

process.on('SIGWINCH', () => {
  for (const { beforeGC, afterGC } of collections.stop()?.statistics ?? []) {
    allocated += beforeGC.heapStatistics.usedHeapSize - usedAfterLast
    usedAfterLast = afterGC.heapStatistics.usedHeapSize
  }
  const used = process.memoryUsage().heapUsed
  allocated += used - usedAfterLast
  usedAfterLast = used
  collections = startProfiler()
  asked += 1
  console.log(JSON.stringify({ allocations: asked, allocated }))
})

function startProfiler(): v8.GCProfiler {
  const profiler = new v8.GCProfiler()
  profiler.start()
  return profiler
}

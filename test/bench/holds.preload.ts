// Measures how long a process holds its event loop at a time. It is loaded before a program (`node --import`), of this checkout or of
// another. On SIGWINCH it prints the longest holds since it last did. A hold is the processor time of the main thread in one turn of the
// event loop, to about 4 ms: what else runs on the machine is no part of it. Linux only: it reads /proc.
import { Buffer } from 'node:buffer'
import { openSync, readSync } from 'node:fs'
import process from 'node:process'
import { setImmediate } from 'node:timers'

const LONG_MS = 20
const KEPT = 5

/** The first figure is the nanoseconds that the thread ran. */
const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
const text = Buffer.alloc(64)
const ranMs = (): number => Number(text.toString('latin1', 0, readSync(file, text, 0, 64, 0)).split(' ')[0]) / 1e6

let ranBefore = ranMs()
let longest: number[] = []
let long = 0

/** An immediate that keeps nothing alive runs once in each turn, and lets the loop wait in between. */
function measureTurn(): void {
  const ran = ranMs()
  const held = ran - ranBefore
  ranBefore = ran
  if (held > LONG_MS) long += 1
  if (held > (longest[KEPT - 1] ?? 0)) longest = [...longest, held].sort((one, other) => other - one).slice(0, KEPT)
  setImmediate(measureTurn).unref()
}

let asked = 0
process.on('SIGWINCH', () => {
  asked += 1
  console.log(JSON.stringify({ asked, longest: longest.map(Math.round), long }))
  longest = []
  long = 0
})
measureTurn()

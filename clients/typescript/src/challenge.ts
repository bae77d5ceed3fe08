// Solves a proof of work without stopping anything else. In: a challenge. Out: the header that the repeated call
// brings. It runs in a worker where there are workers, and otherwise in short slices.
import { solveChallenge } from './challenge-solver.ts'
import type { PowChallenge } from './types.ts'

const FIRST_NONCE = 1e9
const FIRST_SLICE = 2_000
/** Shorter than the time between two pictures of a screen. */
const SLICE_MS = 10

export const canSolve = ({ algorithm, difficulty }: PowChallenge): boolean =>
  algorithm === 'SHA-256' && difficulty <= 32

export async function solutionOf({ salt, difficulty, signature }: PowChallenge, signal?: AbortSignal): Promise<string> {
  const nonce = (await solveInWorker(salt, difficulty, signal)) ?? (await solveInSlices(salt, difficulty, signal))
  return `${salt}.${nonce}.${signature}`
}

/** Null where no worker can be started: on Node, or where a page's Content-Security-Policy forbids it. */
async function solveInWorker(salt: string, difficulty: number, signal?: AbortSignal): Promise<number | null> {
  if (typeof Worker !== 'function' || typeof URL.createObjectURL !== 'function') return null
  const program = `onmessage=({data:[salt,difficulty]})=>postMessage((${solveChallenge})(salt,difficulty))`
  const url = URL.createObjectURL(new Blob([program], { type: 'text/javascript' }))
  let worker: Worker | undefined
  let stop = (): void => {}
  try {
    return await new Promise<number | null>((resolve, reject) => {
      stop = () => reject(signal?.reason)
      signal?.addEventListener('abort', stop)
      worker = new Worker(url, { type: 'module' })
      worker.onmessage = ({ data }: MessageEvent<number>) => resolve(data)
      worker.onerror = event => {
        event.preventDefault()
        resolve(null)
      }
      worker.postMessage([salt, difficulty])
    })
  } catch {
    signal?.throwIfAborted()
    return null
  } finally {
    signal?.removeEventListener('abort', stop)
    worker?.terminate()
    URL.revokeObjectURL(url)
  }
}

async function solveInSlices(salt: string, difficulty: number, signal?: AbortSignal): Promise<number> {
  let tries = FIRST_SLICE
  for (let first = FIRST_NONCE; ; ) {
    signal?.throwIfAborted()
    const began = performance.now()
    const nonce = solveChallenge(salt, difficulty, first, tries)
    if (nonce >= 0) return nonce
    first += tries
    tries = Math.ceil((tries * SLICE_MS) / Math.max(1, performance.now() - began))
    await new Promise(resolve => setTimeout(resolve))
  }
}

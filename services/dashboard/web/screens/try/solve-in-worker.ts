// Solves the challenge of an answer in a worker. In: a challenge. Out: the header's text.
import type { Schemas } from '../../api/schema.ts'

export type Challenge = Schemas['PowChallenge']

export function solveInWorker(challenge: Challenge): Promise<string> {
  const worker = new Worker(new URL('./challenge-worker.ts', import.meta.url), { type: 'module' })
  const nonce = new Promise<number>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<number>) => resolve(data)
    worker.onerror = ({ message }) => reject(new Error(message))
  })
  worker.postMessage(challenge)
  return nonce.then(found => `${challenge.salt}.${found}.${challenge.signature}`).finally(() => worker.terminate())
}

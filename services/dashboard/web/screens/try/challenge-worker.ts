// Solves a challenge beside the page, so that the page does not freeze. In: its salt and difficulty. Out: the nonce.
import { solveChallenge } from '../../../../../clients/typescript/src/challenge-solver.ts'
import type { Schemas } from '../../api/client.ts'

addEventListener('message', ({ data: { salt, difficulty } }: MessageEvent<Schemas['PowChallenge']>) =>
  postMessage(solveChallenge(salt, difficulty)),
)

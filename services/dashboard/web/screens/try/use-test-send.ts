// One verification that is tried: its state and its steps. In: what the viewer types and presses. Out: the calls that were made, newest
// first, and what became of the verification.
import { useRef, useState } from 'preact/hooks'
import type { Schemas } from '../../api/client.ts'
import { useApp } from '../../data/tenant.tsx'
import { type Change, useChange } from '../../data/use-change.ts'
import type { Query } from '../../data/use-query.ts'
import {
  type Channel,
  exchangeRequest,
  type KeyKind,
  type RequestWithKey,
  resendRequest,
  sendRequest,
  statusRequest,
  verifyRequest,
} from './api-request.ts'
import { acceptedBody, type Call, callApi, challengeOf } from './call-api.ts'
import type { Progress } from './progress.ts'
import { solveInWorker } from './solve-in-worker.ts'
import { useProgress } from './use-progress.ts'

interface Started {
  otpId: string
  recipient: string
  /** As the latest answer showed it. */
  verification: Schemas['Verification']
}

/** The latest answer to each step. */
interface Answers {
  send: Call | null
  /** To a resend or a look at the state. */
  again: Call | null
  verify: Call | null
  exchange: Call | null
}

const NO_ANSWERS: Answers = { send: null, again: null, verify: null, exchange: null }

export interface TestSend {
  /** Null before the first accepted send. */
  started: Started | null
  calls: readonly Call[]
  answers: Answers
  /** What the right code gave to a device. */
  token: string | null
  progress: Query<Progress>
  /** The difficulty of the challenge that is being solved; null while none is. */
  solving: number | null
  sending: Change
  verifying: Change
  exchanging: Change
  send(recipient: string): Promise<void>
  /** Null: on the next channel. */
  resend(channel: Channel | null): Promise<void>
  readStatus(): Promise<void>
  verify(code: string): Promise<void>
  exchange(): Promise<void>
  startOver(): void
}

/** `kind`: whose key sends and verifies. */
export function useTestSend(kind: KeyKind): TestSend {
  const { id: appId } = useApp()
  const [started, setStarted] = useState<Started | null>(null)
  const [calls, setCalls] = useState<readonly Call[]>([])
  const [answers, setAnswers] = useState(NO_ANSWERS)
  const [solving, setSolving] = useState<number | null>(null)
  const [sending, verifying, exchanging] = [useChange(), useChange(), useChange()]
  // Counts the verifications that were on the screen. A slow answer belongs to the one for which it was asked, and is dropped with it.
  const round = useRef(0)
  const progress = useProgress(started && { appId, ...started })

  /** Null: another verification is on the screen by now, so neither the answer nor a failure is shown. */
  async function call(request: RequestWithKey, by: KeyKind = kind): Promise<Call | null> {
    const asked = round.current
    try {
      const made = await callApi(appId, by, request)
      if (asked !== round.current) return null
      setCalls(old => [made, ...old])
      return made
    } catch (thrown) {
      if (asked !== round.current) return null
      throw thrown
    }
  }

  /** A send or a resend, and once more with a solved challenge if the API asks for one. */
  async function callSolved(request: RequestWithKey): Promise<Call | null> {
    const asked = round.current
    const first = await call(request)
    const challenge = first && challengeOf(first)
    if (!challenge) return first
    setSolving(challenge.difficulty)
    const solution = await solveInWorker(challenge).finally(() => setSolving(null))
    return asked === round.current ? call(key => ({ ...request(key), solution })) : null
  }

  function startOver(): void {
    round.current += 1
    setStarted(null)
    setCalls([])
    setAnswers(NO_ANSWERS)
    for (const change of [sending, verifying, exchanging]) change.reset()
  }

  async function askAgain(request: (otpId: string) => RequestWithKey): Promise<void> {
    await sending.run(async () => {
      if (started === null) return
      const again = await callSolved(request(started.otpId))
      if (again === null) return
      const verification = acceptedBody<Schemas['Verification']>(again)
      setAnswers(old => ({ ...old, again }))
      if (verification) setStarted({ ...started, verification })
      // Nothing waits for it: the answer is on the screen, and the next step may be taken.
      void progress.reload()
    })
  }

  const token = acceptedBody<Schemas['VerifyResult']>(answers.verify)?.verification_token ?? null
  return {
    started,
    calls,
    answers,
    token,
    progress,
    solving,
    sending,
    verifying,
    exchanging,
    async send(recipient) {
      await sending.run(async () => {
        const before = calls
        const send = await callSolved(sendRequest(recipient))
        if (send === null) return
        const verification = acceptedBody<Schemas['Verification']>(send)
        // What was made before belongs to another verification.
        round.current += 1
        setCalls(made => made.slice(0, made.length - before.length))
        setAnswers({ ...NO_ANSWERS, send })
        setStarted(verification && { otpId: verification.otp_id, recipient, verification })
        verifying.reset()
        exchanging.reset()
      })
    },
    resend: channel => askAgain(otpId => resendRequest(otpId, channel)),
    readStatus: () => askAgain(statusRequest),
    async verify(code) {
      await verifying.run(async () => {
        if (started === null) return
        const verify = await call(verifyRequest(started.otpId, code))
        if (verify === null) return
        setAnswers(old => ({ ...old, verify }))
        // Nothing waits for it: the answer is on the screen, and the next step may be taken.
        void progress.reload()
      })
    },
    async exchange() {
      await exchanging.run(async () => {
        if (token === null) return
        // A backend does it, so the key is a server's.
        const exchange = await call(exchangeRequest(token), 'server')
        if (exchange === null) return
        setAnswers(old => ({ ...old, exchange }))
      })
    },
    startOver,
  }
}

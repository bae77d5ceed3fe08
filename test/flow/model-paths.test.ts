// Replays the paths of the pure state machine over HTTP. At each step the answer and the status are those of the machine.
// The test itself acts as channels and sweeper, so that only the events of a path happen, at the times of the path.
import { expect } from 'chai'
import { carriesCode } from '../../machines/otp.queries.ts'
import { step } from '../../machines/otp.step.ts'
import type { Reply } from '../../machines/otp.ts'
import type { SavedOtp } from '../../machines/otp.versions.ts'
import { statusView } from '../../machines/otp.view.ts'
import { createDashboardService } from '../../services/dashboard/service.ts'
import { createEdgeService } from '../../services/edge/service.ts'
import { createOtpService } from '../../services/otp/service.ts'
import { createWebhookService } from '../../services/webhook/service.ts'
import type { Answer } from '../support/api-caller.ts'
import { type Flow, startFlow } from '../support/flow.ts'
import { createReplayApp, type Replay, type ReplayApp, startReplay } from '../support/otp.http-replay.ts'
import {
  coveringPaths,
  JOINING_MOVES,
  type NamedEvent,
  type OtpPath,
  STARTS,
  type StartName,
  UNPAID_MOVES,
} from '../support/otp.paths.ts'
import { allRows, type Row, rowName, rowsTaken } from '../support/otp.rows.ts'
import { T0 } from '../support/otp.ts'

/** Tests with live keys play these rows: test/flow/failure-reasons.test.ts. */
const UNPAID_GUARDS = ['fallbackIsUnpaid', 'answerIsUnpaid']
/** Rows that only paths with such moves take. Of a late receipt, the row of a refunded message is played, which charges it too. */
const GUARDS_NOT_PLAYED: unknown[] = [...UNPAID_GUARDS, 'leftToOtherIds', 'lastGuess', 'arrivedAfterFailure']
const isPlayable = ({ events }: OtpPath): boolean =>
  !events.some(({ move }) => UNPAID_MOVES.includes(move) || JOINING_MOVES.includes(move))

describe('a verification over HTTP follows each path of its state machine', () => {
  let flow: Flow
  const replayApps = new Map<string, ReplayApp>()
  const taken = new Set<Row>()
  before(async () => {
    flow = await startFlow({
      engines: 'embedded',
      services: {
        edge: createEdgeService,
        otp: createOtpService,
        webhook: createWebhookService,
        dashboard: createDashboardService,
      },
    })
    for (const name of Object.keys(STARTS) as StartName[]) replayApps.set(name, await createReplayApp(flow, name))
  })
  after(() => flow.stop())

  for (const path of coveringPaths().filter(isPlayable))
    it(path.name, async () => {
      const replayApp = replayApps.get(path.name.split(' → ')[0] ?? '')
      if (!replayApp) throw new Error(`${path.name} starts nowhere`)
      const replay = await startReplay(flow, replayApp)
      const { saved, effects } = await followPath(path, replayApp, replay)
      const { value } = await replay.stored()
      expect(value).to.equal(saved.value)
      await flow.eventually(async () => {
        const events = (await flow.events(replayApp.app)).filter(({ payload }) => payload.otp_id === replay.otp_id)
        expect(events.map(({ type }) => type).sort()).to.deep.equal(effects.sort())
      })
    })

  it('and the paths cover every row of the transition table', () => {
    const missing = allRows.filter(row => !taken.has(row) && !GUARDS_NOT_PLAYED.includes(row.guard))
    expect(missing.map(rowName)).to.deep.equal([])
  })

  async function followPath(
    path: OtpPath,
    replayApp: ReplayApp,
    replay: Replay,
  ): Promise<{ saved: SavedOtp; effects: string[] }> {
    const started = step(null, path.start)
    let saved = started.saved
    const effects: string[] = []
    await expectStatus(replayApp, replay, saved, T0)
    for (const event of path.events) {
      for (const row of rowsTaken(saved, event)) taken.add(row)
      await flow.advance(Math.max(0, replay.startedAt + event.at - T0 - flow.clock.now()))
      const next = step(saved, event)
      expectAnswer(await replay.play(event), next.reply, event)
      saved = next.saved
      effects.push(...next.effects.flatMap(effect => (effect.type === 'notify' ? [effect.event] : [])))
      await expectStatus(replayApp, replay, saved, T0 + flow.clock.now() - replay.startedAt)
    }
    return { saved, effects }
  }

  /** Compares GET's answer with the machine's view; both count time from the start of the verification. */
  async function expectStatus(
    { server }: ReplayApp,
    { otp_id, startedAt }: Replay,
    saved: SavedOtp,
    at: number,
  ): Promise<void> {
    const { body } = await server.status(otp_id)
    const since = (time: string | null) => (time === null ? null : Date.parse(time) - startedAt + T0)
    const view = statusView(saved, at)
    expect({
      status: body.status,
      channel: body.channel,
      completion: body.completion,
      attempts_left: body.attempts_left,
      link: body.action_url !== null,
      created_at: since(body.created_at),
      expires_at: since(body.expires_at),
      verified_at: since(body.verified_at),
      resend_at: since(body.resend_at),
      deliveries: body.deliveries.map((one: Record<string, string>) => [one.channel, one.status]),
    }).to.deep.equal({
      status: view.status,
      channel: view.channel,
      completion: view.completion,
      attempts_left: view.attempts_left,
      link: view.sealed_action_url !== null,
      created_at: view.created_at,
      expires_at: view.expires_at,
      verified_at: view.verified_at,
      resend_at: view.resend_at,
      deliveries: view.deliveries.filter(carriesCode).map(({ channel, status }) => [channel, status]),
    })
  }
})

function expectAnswer(answer: Answer | null, reply: Reply, { move }: NamedEvent): void {
  if (reply.kind === 'noted') return void expect(answer, move).to.equal(null)
  if (answer === null) throw new Error(`no answer: ${move}`)
  const { status, body } = answer
  const actual = { status, type: body.type, otp_status: body.otp_status }
  const success = { status: 200, type: undefined, otp_status: undefined }
  switch (reply.kind) {
    case 'refused':
      expect(actual, move).to.include({ type: reply.error, otp_status: reply.otp_status })
      if (reply.error === 'ResendCooldownError')
        expect(body.retry_after).to.equal(Math.ceil((reply.retry_after_ms ?? 0) / 1000))
      return
    case 'no_such_token':
      return void expect(actual, move).to.deep.equal({ ...success, status: 404, type: 'HTTPException' })
    case 'verified':
      expect(actual, move).to.deep.equal(success)
      expect(body).to.include({ matched: reply.matched, attempts_left: reply.attempts_left })
      return void expect(typeof body.verification_token, move).to.equal(reply.token ? 'string' : 'object')
    default:
      return void expect(actual, move).to.deep.equal(success)
  }
}

// Watches a verification while more may come: its state, its messages in the sandbox and its webhook events. In: the verification. Out:
// what is known of it, asked every second; not asked any more once it has ended and its events have arrived.
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, bodyOf, type CallOptions } from '../../api/client.ts'
import { type Query, useQuery } from '../../data/use-query.ts'
import { mayChange, type Progress } from './progress.ts'

const ASK_EVERY_MS = 1_000

export interface Watched {
  appId: string
  otpId: string
  recipient: string
}

/** Null: nothing was sent yet. */
export function useProgress(watched: Watched | null): Query<Progress> {
  const [asking, setAsking] = useState(true)
  const endedAt = useRef<number | null>(null)
  const query = useQuery(
    watched && `progress of ${watched.otpId}`,
    call => readProgress(watched, call),
    asking ? { everyMs: ASK_EVERY_MS } : {},
  )
  const { data, problem } = query

  useEffect(() => {
    endedAt.current = null
    setAsking(true)
  }, [watched?.otpId])

  useEffect(() => {
    if (data === undefined || problem !== null) return setAsking(problem === null)
    if (data.verification.status !== 'pending') endedAt.current ??= Date.now()
    setAsking(mayChange(data, endedAt.current, Date.now()))
  }, [data, problem])

  return query
}

async function readProgress(watched: Watched | null, call: CallOptions): Promise<Progress> {
  const { appId, otpId, recipient } = watched ?? { appId: '', otpId: '', recipient: '' }
  const [verification, messages, { items: events }] = await Promise.all([
    bodyOf(api.GET('/admin/v1/verifications/{otp_id}', { params: { path: { otp_id: otpId } }, ...call })),
    bodyOf(api.GET('/admin/v1/sandbox/messages', { params: { query: { recipient } }, ...call })),
    bodyOf(
      api.GET('/admin/v1/apps/{id}/events', { params: { path: { id: appId }, query: { otp_id: otpId } }, ...call }),
    ),
  ])
  // A magic recipient is shared by everyone who tries it.
  return { verification, messages: messages.filter(({ otp_id }) => otp_id === otpId), events }
}

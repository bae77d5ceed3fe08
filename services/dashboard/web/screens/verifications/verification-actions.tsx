// Resend and cancel, while the verification is pending. Both ask first: one may cost money, the other cannot be undone.
import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { useToast } from '../../ui/toasts.tsx'
import type { History } from './delivery-words.ts'
import { resendWords } from './resend-words.ts'

export function VerificationActions({ history, reload }: { history: History; reload(): Promise<void> }) {
  const mayChange = useMay('developer')
  const say = useToast()
  const [asks, setAsks] = useState<'resend' | 'cancel' | null>(null)
  // Only its backend can send another code.
  if (!mayChange || history.kind === 'message' || (history.status !== 'pending' && asks === null)) return null
  const params = { path: { otp_id: history.otp_id } }
  const close = () => setAsks(null)
  const resend = resendWords(history)
  return (
    <>
      <Button disabled={history.resend_at === null} onClick={() => setAsks('resend')}>
        Resend
      </Button>
      <Button look="danger" onClick={() => setAsks('cancel')}>
        Cancel verification
      </Button>
      {asks === 'resend' && (
        <Confirm
          title={resend.title}
          action="Resend"
          look="primary"
          cancel="Do not send"
          perform={async () => {
            await api.POST('/admin/v1/verifications/{otp_id}/resend', { params, body: {} })
            await reload()
            say(resend.done)
          }}
          onClose={close}
        >
          <p>{resend.text}</p>
        </Confirm>
      )}
      {asks === 'cancel' && (
        <Confirm
          title="Cancel this verification?"
          action="Cancel verification"
          cancel="Keep it"
          perform={async () => {
            await api.POST('/admin/v1/verifications/{otp_id}/cancel', { params })
            await reload()
            say('The verification is canceled.')
          }}
          onClose={close}
        >
          <p>Its code and link stop working at once. The user has to start a new verification.</p>
        </Confirm>
      )}
    </>
  )
}

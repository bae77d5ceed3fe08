// Signs a user in with a passkey: the browser knows which there are, so no address is needed.
import { api, bodyOf } from '../../api/client.ts'
import { askForPasskey } from '../../data/passkeys.ts'
import { useSessionControl } from '../../data/session.tsx'
import { useChange } from '../../data/use-change.ts'
import { Button } from '../../ui/button.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'

export function PasskeyButton() {
  const { begin } = useSessionControl()
  const change = useChange()
  const signIn = () =>
    change.run(async () => {
      const passkey = await askForPasskey(await bodyOf(api.POST('/admin/v1/sign-in/passkey')))
      const answer = await bodyOf(api.POST('/admin/v1/sign-in', { body: { passkey } }))
      if ('role' in answer) begin(answer)
    })
  return (
    <div class="sign-in-passkey">
      {change.problem && <ProblemNotice problem={change.problem} />}
      <Button busy={change.busy} onClick={signIn}>
        Sign in with a passkey
      </Button>
    </div>
  )
}

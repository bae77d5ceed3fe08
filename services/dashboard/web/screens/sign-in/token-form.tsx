// Signs an operator in with a token of ADMIN_TOKEN.
import { useState } from 'preact/hooks'
import { api, bodyOf } from '../../api/client.ts'
import { Problem } from '../../api/problem.ts'
import { useSessionControl } from '../../data/session.tsx'
import { useChange } from '../../data/use-change.ts'
import { EntryForm } from './entry-form.tsx'

/** `focused`: after a link was refused, and when the viewer has chosen this way. Otherwise the address stands out. */
export function TokenForm({ focused }: { focused: boolean }) {
  const { begin } = useSessionControl()
  const [token, setToken] = useState('')
  const change = useChange()
  const signIn = () =>
    change.run(async () => {
      if (token.trim() === '') throw new Problem(422, {})
      const answer = await bodyOf(api.POST('/admin/v1/sign-in', { body: { token: token.trim() } }))
      if ('role' in answer) begin(answer)
    })
  return (
    <EntryForm
      field={{
        label: 'Operator token',
        type: 'password',
        hint: (
          <>
            For operators of this deployment: a token of <code>ADMIN_TOKEN</code>.
          </>
        ),
        value: token,
        onInput: setToken,
        autocomplete: 'current-password',
      }}
      button="Sign in"
      look={focused ? 'primary' : 'plain'}
      change={change}
      wordsOf={({ status }) =>
        status === 401 ? 'This is not an operator’s token here. Check that it is complete.' : 'Enter the token.'
      }
      onSubmit={signIn}
      focused={focused}
    />
  )
}

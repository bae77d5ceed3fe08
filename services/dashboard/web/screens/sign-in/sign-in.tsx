// Signs in with the operator's token, or with an email address and the code that Countersign sends to it.

import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { api, bodyOf } from '../../api/client.ts'
import { useSessionControl } from '../../data/session.tsx'
import { useChange } from '../../data/use-change.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'

export function SignIn() {
  const { state, begin } = useSessionControl()
  const { query, route } = useLocation()
  const [token, setToken] = useState('')
  const change = useChange()
  useEffect(() => {
    if (typeof state === 'object') route(query.next?.startsWith('/') ? query.next : '/overview', true)
  }, [state, query.next, route])
  const signIn = () =>
    change.run(async () => {
      const answer = await bodyOf(api.POST('/admin/v1/sign-in', { body: { token } }))
      if ('role' in answer) begin(answer)
    })
  return (
    <main class="alone">
      <h1>Sign in to Countersign</h1>
      <Form change={change} onSubmit={signIn}>
        <TextField label="Operator token" type="password" value={token} onInput={setToken} />
        <Button look="primary" type="submit" busy={change.busy}>
          Sign in
        </Button>
      </Form>
    </main>
  )
}

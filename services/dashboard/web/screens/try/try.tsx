// Try it: sends a code to the sandbox and checks it, through the real client API, without a key copied by hand.
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { useApp } from '../../data/tenant.tsx'
import { Card } from '../../ui/card.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Screen } from '../../ui/screen.tsx'
import { MagicList } from './magic-list.tsx'
import { SandboxSearch } from './sandbox-search.tsx'
import { TestSend } from './test-send.tsx'
import './try.css'

export default function TryIt() {
  const app = useApp()
  const mayTry = useMay('developer')
  const isClosed = app.closed_at !== null
  return (
    <Screen
      title="Try it"
      lead="One verification from send to proof, on the real API, with test keys. It costs nothing."
    >
      {mayTry && !isClosed ? (
        <TestSend />
      ) : (
        <>
          <Notice>
            <p>
              {isClosed
                ? `The app ${app.name} is closed: its keys are refused. Choose another app above.`
                : onlyRole('developer', 'try it, because it creates test keys')}
            </p>
          </Notice>
          <Card title="Magic numbers and addresses" lead="With a test key, each has a fixed outcome.">
            <MagicList />
          </Card>
        </>
      )}
      <SandboxSearch />
    </Screen>
  )
}

// The keys of an app, the webhook that tells its backend what became of verifications, and its names in Twilio's API.
import { useApp } from '../../data/tenant.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Screen } from '../../ui/screen.tsx'
import { Keys } from './keys.tsx'
import { Twilio } from './twilio.tsx'
import { Webhook } from './webhook.tsx'
import './api-keys.css'

export default function ApiKeys() {
  const app = useApp()
  return (
    <Screen
      title="API Keys"
      lead="With a key your programs call Countersign. Through the webhook Countersign calls you, when a verification or a message reaches its end."
    >
      {app.closed_at && (
        <Notice tone="warning">
          <p>This app is closed: its keys are refused until it is opened again.</p>
        </Notice>
      )}
      <Keys />
      <Webhook />
      <Twilio />
    </Screen>
  )
}

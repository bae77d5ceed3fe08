// The whole dashboard. In: the address and who is signed in. Out: the sign-in page, or the shell with one screen.
import { LocationProvider } from 'preact-iso'
import { SessionProvider } from './data/session.tsx'
import { Gate } from './shell/gate.tsx'
import { StepUp } from './shell/step-up.tsx'
import { Toasts } from './ui/toasts.tsx'

export function App() {
  return (
    <LocationProvider>
      <Toasts>
        <SessionProvider>
          <Gate />
          <StepUp />
        </SessionProvider>
      </Toasts>
    </LocationProvider>
  )
}

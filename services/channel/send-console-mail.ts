// Sends a mail of the console. In: a call of the dashboard or the sweeper. Out: whether a provider of the console's app
// took the mail: the first that accepts it, in their order, and is not paused. It is no verification: nothing is
// stored, nothing is charged, and it is not tried again.
import type { ReceivedCall } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { newId } from '../../infra/ids.ts'
import type { Logger } from '../../infra/log/log.ts'
import { MINUTE_MS } from '../../infra/time.ts'
import { requestOf } from '../../infra/trace.ts'
import { CONSOLE_APP_ID } from '../domain/tenancy/console.ts'
import { type ConsoleMailAnswer, type ConsoleMailCall, mailOf } from '../domain/tenancy/console-mail.ts'
import type { Tenancy } from '../domain/tenancy/tenancy.ts'
import { callWithTimeout } from './call-provider.ts'
import type { BuildProvider } from './providers/factories.ts'

export interface SendConsoleMailDeps {
  tenancy: Pick<Tenancy, 'app' | 'providersOf'>
  buildProvider: BuildProvider
  keyring: Pick<Keyring, 'unseal'>
  clock: Clock
  log: Pick<Logger, 'info' | 'warn'>
  timeoutMs: number
}

/** Providers ask how long a message is worth sending. */
const WORTH_MS = 10 * MINUTE_MS

export const createSendConsoleMail =
  ({ tenancy, buildProvider, keyring, clock, log, timeoutMs }: SendConsoleMailDeps) =>
  async (call: ReceivedCall, body: ConsoleMailCall): Promise<ConsoleMailAnswer> => {
    const [app, { providers }] = await Promise.all([
      tenancy.app(CONSOLE_APP_ID),
      tenancy.providersOf(CONSOLE_APP_ID, 'email'),
    ])
    const { id, ...mail } = mailOf(keyring, body)
    for (const setup of providers) {
      if (setup.type === 'sandbox' || setup.paused || !app) continue
      const { provider } = buildProvider(setup)
      const now = clock.now()
      const message = {
        ...mail,
        delivery_id: id ?? newId('dlv', now),
        expires_at: now + WORTH_MS,
        code: '',
        locale: 'en',
        requested_locale: 'en',
        html: null,
      }
      const { result } = await callWithTimeout(signal => provider.send(message, signal), { clock, timeoutMs })
      provider.close?.()
      log.info({ ...requestOf(call), provider: setup.name, outcome: result }, 'console.mail_called')
      // After an unknown outcome it may be on its way: a second one would be one too many.
      if (result === 'accepted' || result === 'unknown') return { kind: 'sent' }
    }
    return { kind: 'not_sent' }
  }

// Mail by SMTP. In: a message. Out: taken by the app's mail server, which tells nothing of what becomes of it: there are no receipts.
// The server's address is checked before each connection, and TLS holds it to its name. Without TLS from the first byte, STARTTLS is
// used where the server offers it; a password never crosses the open internet without.
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { publicAddress } from '../../../infra/client-ip.ts'
import type { ProviderConfigs } from '../../domain/tenancy/providers.ts'
import type { Provider, ProviderDeps } from '../provider.ts'
import { mailFault } from './smtp.faults.ts'
import { createCompose } from './smtp.mail.ts'
import { createMailPool } from './smtp.pool.ts'
import { openSession } from './smtp.session.ts'

/** Where others listen in: not this machine, nor a network of our own. */
export const isOpenInternet = (address: string): boolean => publicAddress(address) !== null

/** `trust` is for servers whose certificates nobody else knows. */
export function createSmtpProvider(
  { config }: { config: ProviderConfigs['smtp'] },
  { outbound, clock }: Pick<ProviderDeps, 'outbound' | 'clock'>,
  trust: Pick<ConnectionOptions, 'ca'> = {},
): Provider {
  const { host, port, secure, user, pass } = config
  const compose = createCompose(config)
  const auth = user === null || pass === null ? null : { user, pass }
  const servername = isIP(host) ? null : host

  const pool = createMailPool({
    clock,
    async open(signal) {
      const address = await outbound.resolve(host)
      const tlsRequired = auth !== null && isOpenInternet(address)
      return openSession({ address, servername, port, secure, tlsRequired, auth, trust }, signal)
    },
  })

  return {
    async send(message, signal) {
      const mail = await compose(message, clock.now())
      try {
        await pool.send(mail, signal)
      } catch (error) {
        throw mailFault(error)
      }
      return { reference: mail.id }
    },

    close: () => pool.close(),
  }
}

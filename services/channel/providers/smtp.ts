// Email by SMTP. In: a message. Out: the app's mail server accepted it. SMTP has no receipts.
// The server's address is checked before each connection, and TLS checks the certificate for its name. If the config does not ask for TLS
// from the first byte, STARTTLS is used where the server offers it. A password is never sent over the public internet without TLS.
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { publicIpAddress } from '../../../infra/ip-address.ts'
import type { ProviderConfigs } from '../../domain/tenancy/providers.ts'
import type { Provider, ProviderDeps } from '../provider.ts'
import { mailFault } from './smtp.faults.ts'
import { createCompose } from './smtp.mail.ts'
import { createMailPool } from './smtp.pool.ts'
import { openSession } from './smtp.session.ts'

/** Not this machine, and not a private network. */
export const isOpenInternet = (address: string): boolean => publicIpAddress(address) !== null

/** Tests give `trust` a certificate authority of their own. */
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

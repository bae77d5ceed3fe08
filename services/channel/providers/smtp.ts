// Email by SMTP. In: a message. Out: the app's mail server accepted it. SMTP has no receipts.
// The server's address is checked before each connection, and TLS checks the certificate for its name. If the config does not ask for TLS
// from the first byte, STARTTLS is used where the server offers it. A server on the public internet must: without TLS nothing is sent to
// it. The address that is connected to decides whether it is, because a name may resolve to another one tomorrow.
import { isIP } from 'node:net'
import { isPrivateNetwork } from '../../../infra/outbound/address-check.ts'
import type { ProviderConfigs } from '../../domain/tenancy/provider-types/list.ts'
import type { Provider, ProviderDeps } from '../provider.ts'
import { mailFault } from './smtp.faults.ts'
import { createCompose } from './smtp.mail.ts'
import { createMailPool } from './smtp.pool.ts'
import { openSession } from './smtp.session.ts'

/** Tests have a certificate authority of their own, and take loopback addresses for public ones. */
export interface SmtpOptions {
  ca?: string
  isPrivateAddress?(address: string): boolean
}

export function createSmtpProvider(
  { config }: { config: ProviderConfigs['smtp'] },
  { outbound, clock }: Pick<ProviderDeps, 'outbound' | 'clock'>,
  { ca, isPrivateAddress = isPrivateNetwork }: SmtpOptions = {},
): Provider {
  const { host, port, secure, user, pass } = config
  const compose = createCompose(config)
  const auth = user === null || pass === null ? null : { user, pass }
  const servername = isIP(host) ? null : host

  const pool = createMailPool({
    clock,
    async open(signal) {
      const address = await outbound.resolve(host)
      const tlsRequired = !isPrivateAddress(address)
      return openSession({ address, servername, port, secure, tlsRequired, auth, ca }, signal)
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

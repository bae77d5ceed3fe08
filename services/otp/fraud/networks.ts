// Sends from networks of suspect client addresses (VPN, proxy, Tor, datacenter), in live mode and by devices. In: a client address. Out: the
// tally of its network, which is stored under a keyed index.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { networkOf } from '../../../infra/ip-address.ts'
import { counterKey } from '../../domain/verifications/counter-names.ts'
import type { AppMode } from '../../domain/verifications/lookup-indexes.ts'

/** What one customer of a datacenter usually has. */
const NETWORK_BITS = { ipv4: 24, ipv6: 48 }

export const networkId = (keyring: Pick<Keyring, 'index'>, { app_id, mode }: AppMode, address: string): string =>
  counterKey({ app_id, mode }, keyring.index(`fraud network:${app_id}:${mode}`, networkOf(address, NETWORK_BITS)))

// Renews the MACs of users at the start of a dashboard. In: a store. Out: every user that an older code secret stamped has a MAC of the current
// one, so that the older secret can be removed. A user without a good MAC is left as it is and reported: only an operator may stamp it.
import type { Logger } from '../../../infra/log/log.ts'
import { scanAll } from '../../../infra/store/scan.ts'
import type { UserStore } from './documents.ts'
import type { Grants } from './grants.ts'

export interface UserStampDeps {
  store: UserStore
  grants: Pick<Grants, 'makerOf' | 'stamp'>
  log: Pick<Logger, 'warn'>
}

export async function renewUserStamps({ store, grants, log }: UserStampDeps): Promise<void> {
  const users = store.docs('users')
  let count = 0
  for await (const user of scanAll(users)) {
    const maker = grants.makerOf('users', user)
    if (maker === 'former') {
      const { _id, rev, mac } = grants.stamp('users', user)
      // A change that is lost was made with the current secret, or the next start renews it.
      await users.change([{ _id, rev, update: { $set: { mac } } }])
    } else if (maker !== 'current') count += 1
  }
  if (count > 0) log.warn({ count }, 'users.unstamped')
}

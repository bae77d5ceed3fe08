// Renews the MACs of users and passkeys at the start of a dashboard. In: a store. Out: every one that an older code
// secret stamped has a MAC of the current one, so that the older secret can be removed. One without a good MAC is left
// as it is: only an operator may stamp a user, who is reported, and a passkey is added anew.
import type { Logger } from '../../../infra/log/log.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { scanAll } from '../../../infra/store/scan.ts'
import type { UserDoc, UserStore } from './documents.ts'
import type { Grants } from './grants.ts'

type Kind = 'users' | 'passkeys'

export interface UserStampDeps {
  store: UserStore
  grants: Pick<Grants, 'makerOf' | 'stamp'>
  log: Pick<Logger, 'warn'>
}

export async function renewUserStamps({ store, grants, log }: UserStampDeps): Promise<void> {
  const count = await renew('users')
  if (count > 0) log.warn({ count }, 'users.unstamped')
  await renew('passkeys')

  /** Answers how many have no good MAC. */
  async function renew(kind: Kind): Promise<number> {
    // Both have a revision and a MAC, which is all that is read and written here.
    const docs = store.docs(kind) as Docs<UserDoc>
    let unstamped = 0
    for await (const doc of scanAll(docs)) {
      const maker = grants.makerOf<Kind>(kind, doc)
      if (maker === 'former') {
        const { _id, rev, mac } = grants.stamp<Kind>(kind, doc)
        // A change that is lost was made with the current secret, or the next start renews it.
        await docs.change([{ _id, rev, update: { $set: { mac } } }])
      } else if (maker !== 'current') unstamped += 1
    }
    return unstamped
  }
}

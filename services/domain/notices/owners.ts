// Who is told of a company's incidents by email: its owners. That a user's MAC is good is not asked: a MAC guards
// access, a notice grants none, and the sweeper, which sends notices, has no key to check it.
import { isInvitation, type UserDoc, type UserStore } from '../users/documents.ts'

/** More are not told. */
const MAX_TOLD = 50

export async function findOwners(store: UserStore, company_id: string): Promise<UserDoc[]> {
  const owners = await store
    .docs('users')
    .find({ company_id, role: 'owner' }, { sort: { _id: 1 }, limit: 10 * MAX_TOLD })
  return owners.filter(user => !isInvitation(user)).slice(0, MAX_TOLD)
}

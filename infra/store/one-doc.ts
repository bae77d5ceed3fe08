// Reads or changes one document: the port takes several, so that adapters can group them.
import type { Change, Doc, Docs, ReadOptions } from './docs.ts'

export const getOne = async <T extends Doc>(
  docs: Pick<Docs<T>, 'get'>,
  id: string,
  options?: ReadOptions,
): Promise<T | undefined> => (await docs.get([id], options)).get(id)

/** Whether the change won: the document still had the revision that it was computed from. */
export async function changeOne<T extends Doc>(docs: Pick<Docs<T>, 'change'>, change: Change<T>): Promise<boolean> {
  const [answer] = await docs.change([change])
  return answer === 'won'
}

// What a form changes. In: the values with which it was opened, and those that it holds now. Out: the members that differ: a change of these
// alone keeps what a colleague has saved in the others meanwhile. Pure.
import { sameValue } from './settings-patch.ts'

export const changedMembers = <T extends object>(opened: Readonly<Record<keyof T, unknown>>, now: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(now).filter(([name, value]) => !sameValue(opened[name as keyof T], value)),
  ) as Partial<T>

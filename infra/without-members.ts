// A copy of an object without some of its members. V8 turns an object with a member deleted into a slow one, which costs more than the
// copy in every later use of the object.
export function withoutMembers<T extends object>(object: T, isLeftOut: (name: string) => boolean): T {
  const rest: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(object)) if (!isLeftOut(name)) setOwn(rest, name, value)
  return rest as T
}

/** A member may be named `__proto__`: plain assignment would set the prototype. */
export function setOwn(holder: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true })
  else holder[name] = value
}

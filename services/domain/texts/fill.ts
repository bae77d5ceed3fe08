/** `{code}` */
export const PLACEHOLDER = /\{(\w+)\}/g

// Fills the placeholders of a sentence. One pass only, so that an app named `{code}` or `$&` is a name like any other.
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(PLACEHOLDER, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? (values[name] as string) : placeholder,
  )

/** The length of what `fill` makes. */
export function filledLength(text: string, values: Readonly<Record<string, string>>): number {
  let { length } = text
  for (const [placeholder, name = ''] of text.matchAll(PLACEHOLDER))
    if (Object.hasOwn(values, name)) length += (values[name] as string).length - placeholder.length
  return length
}

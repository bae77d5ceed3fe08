// Searches companies and apps. In: all of them, and what was typed. Out: those whose name or id contains every typed word, the best first:
// an equal name or id, then a name that begins with the text, then the rest by name.

interface Named {
  id: string
  name: string
}

const fold = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Diacritic}/gu, '')
    .toLowerCase()

export function matching<T extends Named>(choices: readonly T[], search: string): T[] {
  const typed = fold(search.trim())
  const words = typed.split(/\s+/)
  const rank = ({ id, name }: Named): number => {
    if (fold(name) === typed || id.toLowerCase() === typed) return 0
    return fold(name).startsWith(typed) ? 1 : 2
  }
  return choices
    .filter(({ id, name }) => words.every(word => fold(`${name} ${id}`).includes(word)))
    .map(choice => ({ choice, rank: rank(choice) }))
    .sort((one, other) => one.rank - other.rank || one.choice.name.localeCompare(other.choice.name))
    .map(({ choice }) => choice)
}

// Text in HTML, and back.
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const CHARACTERS = new Map(Object.entries(ENTITIES).map(([char, entity]) => [entity, char]))

/** For any place of a page, between tags or in an attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, char => ENTITIES[char] ?? char)

/** Between tags, where a quote needs no entity: a third of the characters of a sample are quotes. */
export const escapeText = (text: string): string => text.replace(/[&<>]/g, char => ENTITIES[char] ?? char)

/** The text of what was escaped. */
export const unescapeHtml = (escaped: string): string =>
  escaped.replace(/&[#\w]+;/g, entity => CHARACTERS.get(entity) ?? entity)

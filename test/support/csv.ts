// Reads CSV strictly as RFC 4180 has it. In: a text. Out: rows of cells. Throws where a quote is out of place or rows differ in length.
export function parseCsv(text: string): string[][] {
  if (!text.endsWith('\r\n')) throw new Error('the last line does not end')
  const rows: string[][] = [[]]
  let at = 0
  while (at < text.length) {
    const [whole, quoted, plain] = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))/.exec(text.slice(at)) ?? ['']
    rows.at(-1)?.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'))
    at += whole.length
    if (text[at] === ',') at += 1
    else if (text.startsWith('\r\n', at)) {
      at += 2
      if (at < text.length) rows.push([])
    } else throw new Error(`out of place at ${at}: ${text.slice(at, at + 20)}`)
  }
  if (rows.some(({ length }) => length !== rows[0]?.length)) throw new Error('rows of different lengths')
  return rows
}

/** The rows as objects, by the names in the first line. */
export function csvItems(text: string): Record<string, string>[] {
  const [names = [], ...rows] = parseCsv(text)
  return rows.map(row => Object.fromEntries(names.map((name, at) => [name, row[at] ?? ''])))
}

// How the sources are written. In: the text of every source file. Out: the lines that hide literal members in a spread, or that
// name no actor in a comment.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'

const FOLDERS = ['machines', 'infra', 'services', 'clients', 'test']
/** This file contains what it forbids. */
const THIS_FILE = 'test/architecture/language.test.ts'

const sources = (folder: string): string[] =>
  readdirSync(join(PROJECT_ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.tsx?$/.test(name))
    .map(name => join(folder, name))
    .filter(file => file !== THIS_FILE)

/** The lines at these offsets, with file and number. */
function linesAt(file: string, text: string, offsets: readonly number[]): string[] {
  const lines = text.split('\n')
  return offsets.map(offset => {
    const at = text.slice(0, offset).split('\n').length
    return `${file}:${at}: ${lines[at - 1]?.trim()}`
  })
}

const violations = (find: (text: string) => number[]): string[] =>
  FOLDERS.flatMap(sources).flatMap(file => {
    const text = readFileSync(join(PROJECT_ROOT, file), 'utf8')
    return linesAt(file, text, find(text))
  })

/** Comments and the contents of texts as blanks, so that offsets stay. */
const blankTexts = (text: string): string =>
  text.replaceAll(
    /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/gm,
    found => `'${' '.repeat(Math.max(0, found.length - 2))}'`,
  )

/** The offset behind the bracket that closes the one at `start`. */
function endOfBracket(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    if ('([{'.includes(text[at] ?? '')) depth += 1
    else if (')]}'.includes(text[at] ?? '')) depth -= 1
    if (depth === 0) return at + 1
  }
  return text.length
}

/** Spreads of a whole literal, as in `{ ...{ a, b }, c }` or `[...[a], b]`. A literal that goes on, as in `...[a, b].map(f)`, is a real
 *  array, and `...[a, b]: T` is a parameter. */
function literalSpreads(source: string): number[] {
  const text = blankTexts(source)
  return [...text.matchAll(/\.\.\.\(*[{[]/g)].flatMap(({ index, 0: opening }) => {
    const end = endOfBracket(text, index + opening.length - 1)
    return /^\s*(as const\s*)?[,)\]}]/.test(text.slice(end)) ? [index] : []
  })
}

const riddles = (source: string): number[] => {
  const riddle = /(^\s*(\/\/|\/?\*)|\s\/\/\s).*\b(whoever|whomever|somebody|someone|nobody|whatever|whichever)\b/gim
  return [...source.matchAll(riddle)].map(({ index }) => index + 1)
}

describe('the language of the sources', () => {
  it('writes literal members as members: a spread around them switches off the check for unknown members', () => {
    expect(violations(literalSpreads)).to.deep.equal([])
  })

  it('names the actor in comments: no "whoever", "somebody", "nobody", "whatever"', () => {
    expect(violations(riddles)).to.deep.equal([])
  })

  it('finds the literal in a spread, and nothing else', () => {
    for (const text of [
      '{ ...{ a, b }, c }',
      '[...[a], b]',
      'f(...([a, b] as const))',
      '({\n  ...{\n    a: [1],\n  },\n})',
    ])
      expect(literalSpreads(text), text).to.have.length(1)
    const others = [
      '[...[a, b].map(f), c]',
      'f(...names)',
      '{ ...(x === undefined ? {} : { x }) }',
      '(...[a, b]: Pair) => a',
    ]
    for (const text of [...others, "// { ...{ a } }\nconst text = '...{ a }'"])
      expect(literalSpreads(text), text).to.deep.equal([])
  })
})

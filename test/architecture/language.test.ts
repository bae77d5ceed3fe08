// How the sources are written: literals as literals, and no riddles in comments.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect } from 'chai'

const ROOT = resolve(import.meta.dirname, '../..')

const files = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.tsx?$/.test(name))
    .map(name => join(folder, name))

const matching = (folders: readonly string[], pattern: RegExp): string[] =>
  folders.flatMap(files).flatMap(file =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, at) => (pattern.test(line) ? [`${file}:${at + 1}: ${line.trim()}`] : [])),
  )

/** This file names what it forbids. */
const others = (lines: string[]): string[] =>
  lines.filter(line => !line.startsWith('test/architecture/language.test.ts'))

describe('the language of the sources', () => {
  it('writes literal members as members: a spread around them switches off the check for unknown ones', () => {
    const spread = /\.\.\.\(?[{[](?!\.\.\.)[^\]]/
    expect(others(matching(['machines', 'infra', 'services', 'test'], spread))).to.deep.equal([])
  })

  it('names in comments what acts: no "whoever", "somebody", "nobody", "whatever"', () => {
    const riddle = /(^\s*(\/\/|\/?\*)|\s\/\/\s).*\b(whoever|whomever|somebody|someone|nobody|whatever|whichever)\b/i
    expect(others(matching(['machines', 'infra', 'services', 'test'], riddle))).to.deep.equal([])
  })
})

// The README is a front door: short, in short sentences, and every page is found from it or from the index of docs/.
import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'

const MAX_LINES = 130
const MAX_LINE_LENGTH = 119
const MAX_WORDS = 24

describe('README.md', () => {
  const readme = readFileSync('README.md', 'utf8')
  const lines = readme.trimEnd().split('\n')

  it(`has at most ${MAX_LINES} lines, each under 120 characters`, () => {
    expect(lines.length).to.be.at.most(MAX_LINES)
    expect(lines.filter(line => line.length > MAX_LINE_LENGTH)).to.deep.equal([])
  })

  it('has sentences under 25 words', () => {
    const sentences = sentencesOf(readme)
    expect(sentences.length).to.be.greaterThan(30)
    expect(sentences.filter(sentence => sentence.split(/\s+/).length > MAX_WORDS)).to.deep.equal([])
  })

  it('and the index of docs/ lead to every page', () => {
    const index = readFileSync('docs/README.md', 'utf8')
    const pages = readdirSync('docs').filter(name => name.endsWith('.md') && name !== 'README.md')
    expect(pages.filter(name => !index.includes(`](${name})`))).to.deep.equal([])
    expect(readme).to.include('](docs/README.md)')
  })
})

/** Prose and cells of tables. A block of code is not prose, and a link is its text. */
function sentencesOf(page: string): string[] {
  const prose = page
    .replaceAll(/```.*?```/gs, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^(?:\||- |#+ )/gm, '\n\n')
    .replaceAll('|', '\n\n')
  return prose
    .split(/\n\n+|(?<=[.!?])\s+/)
    .map(sentence => sentence.trim())
    .filter(sentence => /\w/.test(sentence))
}

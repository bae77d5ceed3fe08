import { expect } from 'chai'
import { eventLoop } from '../../../../infra/event-loop.ts'
import { textProblems } from '../../../../services/dashboard/apps/text-problems.ts'

describe('the check of own texts', () => {
  const tags = Array.from({ length: 80 }, (_, at) => `en-x-${at}`)

  /** How often others have their turn while as many texts are checked. */
  async function turnsDuring(html: string): Promise<number> {
    const { turn } = eventLoop
    let turns = 0
    eventLoop.turn = async () => {
      turns += 1
    }
    const email = Object.fromEntries(tags.map(tag => [tag, { text: '{code}', html: `{code} ${html}` }]))
    const problems = await textProblems(
      { name: 'Shop', settings: {} },
      { name: 'Shop', settings: { texts: { email } } },
    ).finally(() => {
      eventLoop.turn = turn
    })
    expect(problems).to.deep.equal([])
    return turns
  }

  it('lets others have their turn after every twenty texts, and sooner where texts are long', async () => {
    expect(await turnsDuring('short')).to.equal(4)
    expect(await turnsDuring('x'.repeat(20_000))).to.equal(27)
  })
})

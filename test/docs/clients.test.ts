// The clients know every error that the client API can answer.
import { readFileSync } from 'node:fs'
import { expect } from 'chai'

/** Answered by the admin API alone. */
const NOT_OF_THE_CLIENT_API = ['StepUpRequiredError', 'IdempotencyConflictError']

const { components } = JSON.parse(readFileSync('docs/openapi.json', 'utf8'))
const types = (components.schemas.ErrorType.enum as string[]).filter(type => !NOT_OF_THE_CLIENT_API.includes(type))
const names = (pattern: RegExp, path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(pattern)].map(([, name = '']) => name)

describe('the Python client', () => {
  const PACKAGE = 'clients/python/src/countersign'

  it('has an exception for every type of error in the OpenAPI document, and exports it', () => {
    const classes = names(/^class (\w+)\(CountersignError\):/gm, `${PACKAGE}/errors.py`)
    expect(classes.filter(name => name !== 'APIConnectionError')).to.have.members(types)
    expect(names(/^ {4}"(\w+)",$/gm, `${PACKAGE}/__init__.py`)).to.include.members(types)
  })

  it('knows the values that the OpenAPI document lists', () => {
    const answers = readFileSync(`${PACKAGE}/answers.py`, 'utf8')
    for (const name of ['Channel', 'OtpStatus', 'DeliveryStatus', 'Completion'])
      expect(answers).to.contain(
        `${name} = Literal[${components.schemas[name].enum.map((value: string) => JSON.stringify(value)).join(', ')}]`,
      )
  })
})

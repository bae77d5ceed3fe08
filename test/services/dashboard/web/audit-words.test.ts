// The words of the audit screen: every action that the services record has some.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { isQueue } from '../../../../infra/broker/topology.ts'
import { PROJECT_ROOT } from '../../../../infra/web/built-site.ts'
import { actionWords } from '../../../../services/dashboard/web/screens/audit/words.ts'

const DASHBOARD = join(PROJECT_ROOT, 'services/dashboard')

const recordedActions = (): string[] =>
  readdirSync(DASHBOARD, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts') && !/^web\/|^openapi\/|schemas/.test(name))
    .map(name => readFileSync(join(DASHBOARD, name), 'utf8'))
    .flatMap(text => [...text.matchAll(/\baction: [^\n]*|'webhook\.[^\n]*/g)])
    .flatMap(([line]) => [...line.matchAll(/'([a-z_]+\.[a-z_]+)'/g)])
    .map(([, action = '']) => action)
    .filter(name => !isQueue(name))

describe('the words of an audit record', () => {
  it('exist for every action that is recorded', () => {
    const actions = recordedActions()
    expect(actions).to.include.members(['key.create', 'webhook.pause', 'webhook.rotate_now', 'provider.change'])
    expect(actions.filter(action => actionWords(action) === action)).to.deep.equal([])
  })
})

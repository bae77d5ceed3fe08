// The words of the audit screen: every action that the services record has some.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { isQueue } from '../../../../infra/broker/topology.ts'
import { PROJECT_ROOT } from '../../../../infra/web/built-site.ts'
import { actionWords, besideName, whoOf } from '../../../../services/dashboard/web/screens/audit/words.ts'

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

  it('name a user by the masked address, and an operator by the name of the token', () => {
    expect(whoOf('usr_01k2 (a****@shop.example)')).to.deep.equal({ name: 'a****@shop.example', userId: 'usr_01k2' })
    expect(whoOf('usr_01k2')).to.deep.equal({ name: 'usr_01k2', userId: 'usr_01k2' })
    expect(whoOf('ada')).to.deep.equal({ name: 'ada', userId: null })
  })

  it('have beside the name what the name does not say', () => {
    const callers = ['usr_01k2 (a****@shop.example)', 'usr_01k2', 'ada', 'operator', 'recipient']
    expect(callers.map(who => besideName(whoOf(who)))).to.deep.equal(['usr_01k2', null, 'operator', null, null])
  })
})

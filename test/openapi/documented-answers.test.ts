// The check that every answer in tests goes through does find a difference between an answer and the OpenAPI document.
import { expect } from 'chai'
import { checkDocumented, type SeenAnswer } from '../support/documented-answers.ts'

const times = { created_at: '2030-01-01T12:00:00.000Z', closed_at: null, deletable_at: null }
const company = {
  id: 'cmp_1',
  name: 'Acme',
  balance: 0,
  low_balance_micros: null,
  timezone: 'UTC',
  max_apps: 1,
  max_users: 1,
  ...times,
}
const answer: SeenAnswer = {
  method: 'GET',
  path: '/admin/v1/companies/cmp_1?x=y',
  status: 200,
  type: 'application/json; charset=utf-8',
  body: company,
}
const checking = (change: Partial<SeenAnswer>) => () => checkDocumented({ ...answer, ...change })

describe('the check of answers against the OpenAPI document', () => {
  it('takes an answer that is documented, and one of no documented operation', () => {
    checking({})()
    checking({ path: '/metrics', body: 'text' })()
    checking({ method: 'DELETE', path: '/admin/v1/keys/key_1', status: 204, type: null, body: null })()
  })

  it('refuses another status, another type and another shape', () => {
    expect(checking({ status: 418 })).to.throw('getCompany does not document')
    expect(checking({ type: 'text/html' })).to.throw('not as application/json')
    expect(checking({ body: { ...company, balance: '0' } })).to.throw('/balance must be integer')
    expect(checking({ body: { ...company, created_at: 1893499200000 } })).to.throw('/created_at must be string')
    expect(checking({ body: { id: 'cmp_1' } })).to.throw("must have required property 'name'")
    expect(checking({ method: 'DELETE', path: '/admin/v1/keys/key_1', status: 204, body: company })).to.throw('a body')
  })

  it('prefers the path with fewer parameters', () => {
    const replay = { method: 'POST', path: '/admin/v1/apps/app_1/events/replay', body: { replayed: 3 } }
    checking(replay)()
    expect(checking({ ...replay, body: company })).to.throw('replayed')
  })
})

// Each role is given the secrets it uses, and no other.
import { join } from 'node:path'
import { expect } from 'chai'
import { ROLES, type Role, readConfig } from '../../../infra/config/config.ts'
import { ROLE_SECRETS } from '../../../infra/config/role-secrets.ts'
import { configProblems, engineUrls, secrets, wrongVariables } from '../../support/config.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

const production = { ...engineUrls, NODE_ENV: 'production' }
const only = (names: readonly (keyof typeof secrets)[]) => Object.fromEntries(names.map(name => [name, secrets[name]]))

describe('the secrets of a role', () => {
  for (const role of ROLES)
    it(`${role}: it asks for ${ROLE_SECRETS[role].join(', ')}, and starts with nothing more`, () => {
      expect(wrongVariables(production, [role])).to.deep.equal(ROLE_SECRETS[role])
      expect(configProblems({ ...production, ...only(ROLE_SECRETS[role]) }, [role])).to.deep.equal([])
    })

  it('are those of all its roles for a process with several', () => {
    expect(wrongVariables(production, ['edge', 'webhook'])).to.deep.equal(['DATA_KEYS'])
    expect(wrongVariables(production, ['edge', 'channel:sms'])).to.deep.equal(['CODE_SECRETS', 'DATA_KEYS'])
    expect(wrongVariables(production, ['otp', 'dashboard'])).to.deep.equal(['CODE_SECRETS', 'DATA_KEYS', 'ADMIN_TOKEN'])
  })

  it('exclude code secrets that are given needlessly, in production and in development', () => {
    const code = (role: Role, env: object) => readConfig({ ...engineUrls, ...secrets, ...env }, [role]).secrets.code
    for (const env of [{ NODE_ENV: 'production' }, {}]) {
      for (const role of ['edge', 'webhook', 'sweeper'] as const) expect(code(role, env), role).to.deep.equal([])
      for (const role of ['otp', 'channel:sms', 'dashboard'] as const) expect(code(role, env)).to.have.length(1)
    }
    expect(readConfig({ ...engineUrls }, ['edge']).secrets.code, 'not made in development').to.deep.equal([])
  })

  it('that no role of a process uses are not even read', () => {
    const CODE_SECRETS_FILE = join(createTemporaryFolder(), 'of-another-role')
    const env = { ...production, DATA_KEYS: secrets.DATA_KEYS, CODE_SECRETS_FILE }
    expect(configProblems(env, ['edge'])).to.deep.equal([])
    expect(wrongVariables(env, ['otp'])).to.deep.equal(['CODE_SECRETS_FILE'])
  })

  it('include an operator’s token wherever it is given; without one a process has no operators', () => {
    const operators = (env: object) =>
      readConfig({ ...production, DATA_KEYS: secrets.DATA_KEYS, ...env }, ['edge']).secrets.adminTokens
    expect(operators({})).to.deep.equal([])
    expect(operators({ ADMIN_TOKEN: secrets.ADMIN_TOKEN })).to.have.length(1)
  })
})

// infra/deploy/compose.yml gives each service the secrets of its roles, and no others.
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { ROLE_SECRETS } from '../../infra/config/role-secrets.ts'
import { SECRET_VARIABLES } from '../../infra/config/variables.ts'

describe('the services in compose.yml', () => {
  const [, services = ''] = /\nservices:\n(.*?)\n\S/s.exec(readFileSync('infra/deploy/compose.yml', 'utf8')) ?? []
  const wordsOf = (list: string | undefined): string[] => (list ?? '').replaceAll("'", '').split(/, */)

  /** The roles and the secrets of each service that runs Countersign. */
  const found = services
    .split(/\n(?= {2}[a-z-]+:)/)
    .filter(block => block.includes('*countersign'))
    .map(block => ({
      roles: wordsOf(/command: \[(.*?)\]/.exec(block)?.[1]),
      secrets: wordsOf(/secrets: \[(.*?)\]/.exec(block)?.[1]),
      block,
    }))

  it('play every role once', () => {
    expect(found.flatMap(({ roles }) => roles)).to.have.members(Object.keys(ROLE_SECRETS))
  })

  it('have the secrets of their roles as files, and no others', () => {
    const secretsOf = Object.fromEntries(
      Object.entries(ROLE_SECRETS).map(([role, names]) => [role, names.map(name => name.toLowerCase())]),
    )
    for (const { roles, secrets } of found)
      expect(secrets, String(roles)).to.have.members(['amqp_url', ...roles.flatMap(role => secretsOf[role] ?? [])])
  })

  it('have no secret in their environment', () => {
    const settings = readFileSync('infra/deploy/compose.yml', 'utf8')
    // MongoDB has no password there.
    for (const name of SECRET_VARIABLES.filter(variable => variable !== 'MONGODB_URL'))
      expect(settings).not.to.match(new RegExp(`^ +${name}:`, 'm'))
  })
})

// What `grant` reads from the URLs of the roles and of the administrators.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { ROLES } from '../../../infra/config/roles.ts'
import { loneHost, rabbitDefinitions } from '../../../infra/deploy/grant.ts'
import { userOf } from '../../../infra/deploy/rights.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

function folderWith(second: (user: string) => string): string {
  const folder = createTemporaryFolder()
  for (const role of ROLES) {
    const user = userOf(role)
    writeFileSync(join(folder, `${user}_amqp_url`), `amqp://${user}:secret@one:5672/otp, ${second(user)}\n`)
  }
  return folder
}

describe('grant', () => {
  it('takes one account from the URLs of several nodes', async () => {
    const definitions = await rabbitDefinitions(folderWith(user => `amqp://${user}:secret@two:5672/otp`))
    expect(definitions).to.have.deep.property('vhosts', [{ name: 'otp' }])
    expect(JSON.stringify(definitions)).to.not.include('secret')
  })

  for (const [what, second] of [
    ['users', () => 'amqp://other:secret@two:5672/otp'],
    ['passwords', (user: string) => `amqp://${user}:hidden@two:5672/otp`],
    ['virtual hosts', (user: string) => `amqp://${user}:secret@two:5672/other`],
  ] as const)
    it(`refuses URLs of different ${what}, without the password in its words`, async () => {
      const error = await rabbitDefinitions(folderWith(second)).catch(error => error)
      expect(error.message).to.include('differ in user, password or virtual host')
      expect(error.message).to.not.match(/secret|hidden/)
    })

  it('connects directly, and makes a replica set, only where the URL has one host and no replica set', () => {
    expect(loneHost('mongodb://admin:p@db:27017/?authSource=admin')).to.equal('db:27017')
    expect(loneHost('mongodb://admin:p@a,b:27018/?authSource=admin')).to.equal(undefined)
    expect(loneHost('mongodb://admin:p@db/?authSource=admin&replicaSet=rs')).to.equal(undefined)
    expect(loneHost('mongodb+srv://admin:p@cluster.example/')).to.equal(undefined)
  })
})

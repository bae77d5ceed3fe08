// Secrets in files: the twin `…_FILE` of each secret variable.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { readConfig } from '../../../infra/config/config.ts'
import { SECRET_VARIABLES } from '../../../infra/config/variables.ts'
import { base64Key, configProblems, engineUrls, secrets, wrongVariables } from '../../support/config.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

describe('a secret in a file', () => {
  const folder = createTemporaryFolder()
  const values: Record<string, string> = { ...engineUrls, ...secrets, METRICS_TOKEN: 'a'.repeat(24) }
  let files = 0
  const fileWith = (content: string): string => {
    files += 1
    const path = join(folder, `secret-${files}`)
    writeFileSync(path, content)
    return path
  }
  const production = { NODE_ENV: 'production' }

  it('is read for every variable that holds a secret, and means the same', () => {
    expect(SECRET_VARIABLES).to.have.members(Object.keys(values))
    const inFiles = Object.fromEntries(SECRET_VARIABLES.map(name => [`${name}_FILE`, fileWith(values[name] ?? '')]))
    expect(readConfig({ ...production, ...inFiles }, [])).to.deep.equal(readConfig({ ...production, ...values }, []))
  })

  it('is read without the newline at its end', () => {
    for (const end of ['\n', '\r\n', '\n\n', ' \n'])
      expect(readConfig({ DATA_KEYS_FILE: fileWith(`${secrets.DATA_KEYS}${end}`) }, []).secrets.data).to.deep.equal(
        readConfig(secrets, []).secrets.data,
      )
  })

  it('must not stand beside its variable', () => {
    for (const name of SECRET_VARIABLES) {
      const both = { ...production, ...values, [`${name}_FILE`]: fileWith(values[name] ?? '') }
      const message = `must not be set together with ${name}: choose one`
      expect(configProblems(both)).to.deep.equal([{ name: `${name}_FILE`, message }])
    }
  })

  it('that cannot be read is a problem with its path, and the only one', () => {
    const path = join(folder, 'no-such-file')
    for (const name of SECRET_VARIABLES) {
      const env = { ...production, ...values, [name]: '', [`${name}_FILE`]: path }
      expect(configProblems(env)).to.deep.equal([{ name: `${name}_FILE`, message: `${path} cannot be read: ENOENT` }])
    }
  })

  it('that is empty is a problem with its path', () => {
    const path = fileWith(' \n')
    expect(configProblems({ ...production, ...values, DATA_KEYS: '', DATA_KEYS_FILE: path })).to.deep.equal([
      { name: 'DATA_KEYS_FILE', message: `${path} is empty` },
    ])
  })

  it('is named as the operator gave it when its content is wrong, and is not repeated', () => {
    const env = { CODE_SECRETS_FILE: fileWith(`c:${base64Key(31)}`), AMQP_URL_FILE: fileWith('http://u:pa55@h.test') }
    expect(wrongVariables(env)).to.have.members(['CODE_SECRETS_FILE', 'AMQP_URL_FILE', 'MONGODB_URL'])
    expect(JSON.stringify(configProblems(env))).not.to.match(new RegExp(`pa55|${base64Key(31).slice(0, 20)}`))
  })

  it('is not repeated where an operator wrote it in place of its path', () => {
    for (const name of SECRET_VARIABLES) {
      const [problem] = configProblems({ [`${name}_FILE`]: values[name] })
      expect(problem?.name).to.equal(`${name}_FILE`)
      expect(problem?.message).to.contain('cannot be read: ENOENT').and.not.to.contain(values[name])
    }
  })

  it('counts as absent when its variable is empty', () => {
    expect(readConfig({ DATA_KEYS_FILE: ' ' }, [])).to.deep.equal(readConfig({}, []))
  })
})

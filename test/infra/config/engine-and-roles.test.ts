import { expect } from 'chai'
import { ROLES, readConfig } from '../../../infra/config/config.ts'
import { AMQP_URL, configProblems, engineUrls, MONGODB_URL, secrets, wrongVariables } from '../../support/config.ts'

describe('the engines', () => {
  it('are the real ones if both URLs are given', () => {
    const urls = { MONGODB_URL: 'mongodb+srv://u:p@a.test/db?w=majority', AMQP_URL: 'amqps://u:p@b.test:5671/%2f' }
    expect(readConfig(urls, ['edge']).engine).to.deep.equal({
      kind: 'real',
      mongodbUrl: urls.MONGODB_URL,
      amqpUrls: [urls.AMQP_URL],
    })
    expect(
      wrongVariables({ MONGODB_URL: 'mongodb://a.test:1,b.test:2,[::1]:3/?replicaSet=rs', AMQP_URL }),
    ).to.deep.equal([])
  })

  it('need both URLs or none', () => {
    expect(wrongVariables({ MONGODB_URL })).to.deep.equal(['AMQP_URL'])
    expect(wrongVariables({ AMQP_URL })).to.deep.equal(['MONGODB_URL'])
  })

  it('need URLs of their own scheme with a host', () => {
    for (const urls of [
      { MONGODB_URL: 'https://m.test', AMQP_URL: 'mongodb://r.test' },
      { MONGODB_URL: 'mongodb://', AMQP_URL: 'amqp://guest@' },
    ])
      expect(wrongVariables(urls)).to.deep.equal(['MONGODB_URL', 'AMQP_URL'])
  })

  it('need valid ports and escapes, and a refusal repeats no password', () => {
    for (const rest of ['u:pa55@h.test:99999', 'u:pa55@h.test:x', 'u:pa55@h.test:0', 'u:pa55%zz@h.test']) {
      const urls = { MONGODB_URL: `mongodb://${rest}/db`, AMQP_URL: `amqp://${rest}` }
      expect(wrongVariables(urls), rest).to.deep.equal(['MONGODB_URL', 'AMQP_URL'])
      expect(JSON.stringify(configProblems(urls))).to.not.include('pa55')
    }
    expect(wrongVariables({ MONGODB_URL: 'mongodb://a.test:1,b.test:99999/?replicaSet=rs', AMQP_URL })).to.deep.equal([
      'MONGODB_URL',
    ])
    expect(
      wrongVariables({ MONGODB_URL: 'mongodb://%2Ftmp%2Fm.sock/db', AMQP_URL: 'amqp://u:50%25@[::1]:5672' }),
    ).to.deep.equal([])
  })

  it('can have several broker nodes, comma-separated', () => {
    const urls = ['amqp://u:p%2C@a.test:5672', 'amqps://u:p@b.test/%2f?heartbeat=5', 'amqp://[::1]:5672']
    const { engine } = readConfig({ MONGODB_URL, AMQP_URL: urls.join(' , ') }, [])
    expect(engine).to.deep.include({ kind: 'real', amqpUrls: urls })
  })

  it('name each wrong node by its position, and no password', () => {
    const problems: Record<string, string | null> = {
      'amqp://u:pa55@a.test': null,
      'amqp://u:pa55@b.test:99999': 'must give a port, if any, from 1 to 65535',
      'b.test': 'must begin with amqp:// or amqps://',
      '': 'must begin with amqp:// or amqps://',
      'amqp://u:pa55%@c.test': 'has a % that escapes nothing: in a password it is written %25',
      'amqp://u:pa55@d<.test': 'is not a URL',
    }
    const hint = '(a comma separates URLs: in a password it is written %2C)'
    const told = Object.values(problems).flatMap((problem, at) =>
      problem ? [{ name: 'AMQP_URL', message: `URL ${at + 1} of 6 ${problem} ${hint}` }] : [],
    )
    expect(configProblems({ MONGODB_URL, AMQP_URL: Object.keys(problems).join() })).to.deep.equal(told)
  })

  it('say how a comma in a password is written, if there is one or several nodes are given', () => {
    const messages = (AMQP_URL: string) => configProblems({ MONGODB_URL, AMQP_URL }).map(({ message }) => message)
    for (const url of ['amqp://u:pa,55@a.test:5672', 'amqp://u:,pa55@a.test', 'amqp://u:pa55,@a.test'])
      expect(messages(url).join(), url)
        .to.include('in a password it is written %2C')
        .and.not.to.match(/pa55|pa,/)
    expect(messages('amqp://u:pa55@a.test:99999').join(), 'one node').not.to.include('%2C')
  })

  it('cannot be chosen by ENGINE and by URL at once', () => {
    expect(wrongVariables({ ...engineUrls, ENGINE: 'embedded' })).to.deep.equal(['ENGINE'])
    expect(wrongVariables({ MONGODB_URL, ENGINE: 'embedded' })).to.deep.equal(['ENGINE'])
  })

  it('are never embedded in production by accident', () => {
    expect(wrongVariables({ ...secrets, NODE_ENV: 'production' })).to.deep.equal(['MONGODB_URL', 'AMQP_URL'])
    expect(readConfig({ ...secrets, NODE_ENV: 'production', ENGINE: 'embedded' }, []).engine.kind).to.equal('embedded')
    expect(readConfig({ ...secrets, NODE_ENV: 'production', ...engineUrls }, []).engine.kind).to.equal('real')
  })
})

describe('roles', () => {
  it('can be split over processes only on real engines', () => {
    expect(wrongVariables({}, ['edge', 'otp'])).to.deep.equal(['roles'])
    expect(wrongVariables({ ENGINE: 'embedded' }, ['channel:sms'])).to.deep.equal(['roles'])
    expect(readConfig(engineUrls, ['channel:sms']).roles).to.deep.equal(['channel:sms'])
  })

  it('can all be named on the embedded engines', () => {
    expect(readConfig({}, [...ROLES].reverse()).roles).to.deep.equal(ROLES)
  })

  it('must be known and named once', () => {
    expect(configProblems(engineUrls, ['edge', 'channel:fax', 'edge'])).to.deep.equal([
      { name: 'roles', message: `"channel:fax" is none of ${ROLES.join(', ')}` },
      { name: 'roles', message: '"edge" is named twice' },
    ])
  })
})

import { expect } from 'chai'
import { ConfigProblems, readConfig } from '../../../infra/config/config.ts'
import { AMQP_URL, base64Key, engineUrls, MONGODB_URL, secrets, wrongVariables } from '../../support/config.ts'

describe('settings', () => {
  it('send spans to a collector by the rules of OpenTelemetry', () => {
    const url = (env: Record<string, string>) => readConfig(env, []).tracesUrl
    const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318/'
    expect(url({ OTEL_EXPORTER_OTLP_ENDPOINT })).to.equal('http://collector:4318/v1/traces')
    const own = 'https://traces.example/in'
    expect(url({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own })).to.equal(own)
    expect(url({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: 'none' })).to.equal(null)
    expect(url({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'true' })).to.equal(null)
    expect(wrongVariables({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' })).to.deep.equal([
      'OTEL_EXPORTER_OTLP_ENDPOINT',
    ])
  })

  it('come from the environment', () => {
    const http = { HOST: '::', PORT: '0', METRICS_PORT: '9090', MAX_BODY_BYTES: '1024', MAX_IN_FLIGHT: '10' }
    const provider = { PROVIDER_TIMEOUT: '500', PROVIDER_CALLS: '20', UNKNOWN_WAIT: '0', CHANNEL_BACKOFF: '10' }
    const files = { DATA_DIR: '/var/lib/countersign', BOOTSTRAP_FILE: 'deployment.json', LOG_LEVEL: 'silent' }
    const env = {
      PUBLIC_URL: 'https://Verify.Example.com/base//',
      TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8::/32,192.0.2.1',
      ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
      STOP_DELAY: '3000',
      WEBHOOK_BACKOFF: '50, 20,20',
    }
    const all = { ...engineUrls, ...secrets, ...http, ...provider, ...files, ...env, NODE_ENV: 'production' }
    const config = readConfig(all, ['otp', 'edge'])
    const trustedProxies = ['10.0.0.0/8', '2001:db8::/32', '192.0.2.1/32']
    const publicUrl = 'https://verify.example.com/base'
    expect(config).to.deep.include({
      roles: ['edge', 'otp'],
      production: true,
      engine: { kind: 'real', mongodbUrl: MONGODB_URL, amqpUrls: [AMQP_URL] },
      dataDir: '/var/lib/countersign',
      bootstrapFile: 'deployment.json',
      logLevel: 'silent',
      metricsPort: 9090,
      http: { host: '::', port: 0, publicUrl, maxBodyBytes: 1024, maxInFlight: 10, trustedProxies },
      stopDelayMs: 3_000,
      provider: { timeoutMs: 500, maxCalls: 20, unknownWaitMs: 0 },
      backoff: { channel: [10], webhook: [50, 20, 20] },
      privateTargets: ['127.0.0.0/8'],
    })
  })

  it('count an empty variable as absent', () => {
    const names = ['PORT', 'HOST', 'PUBLIC_URL', 'MONGODB_URL', 'ENGINE', 'NODE_ENV', 'DATA_KEYS', 'ADMIN_TOKEN']
    const blank = Object.fromEntries(names.map(name => [name, ' ']))
    expect(readConfig({ ...blank, AMQP_URL: '' }, [])).to.deep.equal(readConfig({}, []))
  })

  it('report every problem at once, by name, one per line', () => {
    const env = {
      PORT: 'http',
      LOG_LEVEL: 'loud',
      PUBLIC_URL: 'ftp://x.test',
      MONGODB_URL,
      DATA_KEYS: `d:${base64Key(31)}`,
      CHANNEL_BACKOFF: '1,,2',
    }
    const expected = ['PORT', 'PUBLIC_URL', 'CHANNEL_BACKOFF', 'LOG_LEVEL', 'DATA_KEYS', 'AMQP_URL', 'roles']
    expect(wrongVariables(env, ['edge', 'clerk'])).to.deep.equal(expected)
    expect(() => readConfig(env, ['edge', 'clerk'])).to.throw(
      ConfigProblems,
      /^PORT: .+\nPUBLIC_URL: .+\n(.+\n){3}.+\nroles: .+$/,
    )
  })
})

describe('a setting', () => {
  const refused: [string, string[]][] = [
    ['PORT', ['-1', '65536', '3e3', '0x10', '80.5', 'off']],
    ['METRICS_PORT', ['65536', 'on', '3000']],
    ['HOST', ['http://x', 'a b', '[::1]', 'x:80']],
    ['PUBLIC_URL', ['example.com', 'https:x.test', 'https://', 'https://u:p@x.test', 'https://x.test/?a=1']],
    ['NODE_ENV', ['prod', 'Production']],
    ['LOG_LEVEL', ['verbose', 'INFO']],
    ['ENGINE', ['real', '1']],
    ['MAX_BODY_BYTES', ['0', '-5', '1k', '999999999999']],
    ['MAX_IN_FLIGHT', ['0', 'many']],
    ['PROVIDER_TIMEOUT', ['0', '8s']],
    ['PROVIDER_CALLS', ['0', 'all']],
    ['UNKNOWN_WAIT', ['-1', '1.5']],
    ['TRUSTED_PROXIES', ['10.0.0.0/33', '0x7f.1/8', '10.0.0.0/8/8', 'proxy.test', '::/129', '::ffff:10.0.0.0/104']],
    ['ALLOW_PRIVATE_TARGETS', ['yes', '2', '10/8']],
    ['CHANNEL_BACKOFF', ['0', '604800001', '1;2', '1,-2', Array(21).fill('1').join(',')]],
    ['WEBHOOK_BACKOFF', ['soon', ',', '1,1e3']],
  ]
  it('is refused out of its range', () => {
    for (const [name, values] of refused)
      for (const value of values) expect(wrongVariables({ [name]: value }), value).to.deep.equal([name])
  })

  it('accepts the limits of its range', () => {
    const { http, backoff, metricsPort, privateTargets } = readConfig(
      {
        PORT: '65535',
        METRICS_PORT: 'off',
        CHANNEL_BACKOFF: '1,604800000',
        WEBHOOK_BACKOFF: Array(20).fill('1').join(','),
        TRUSTED_PROXIES: '0.0.0.0/0,::/0',
        ALLOW_PRIVATE_TARGETS: '1',
      },
      [],
    )
    expect([http.port, metricsPort, privateTargets]).to.deep.equal([65_535, null, 'all'])
    expect(backoff.channel).to.deep.equal([1, 604_800_000])
    expect(backoff.webhook).to.have.length(20)
    expect(wrongVariables({ PORT: '0', METRICS_PORT: '0' }), 'any free ports').to.deep.equal([])
  })
})

// docs/compat-twilio.md shows the samples that `npm run test:compat` runs, and has every code of an error.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { twilioNodeSample, twilioPythonSample } from '../../services/domain/tenancy/twilio-samples.ts'
import { TWILIO_ERRORS } from '../../services/edge/twilio/errors.ts'
import { TWILIO_OPERATIONS, TWILIO_ROOT } from '../../services/edge/twilio/operations.ts'

describe('docs/compat-twilio.md', () => {
  const page = readFileSync(join(PROJECT_ROOT, 'docs/compat-twilio.md'), 'utf8')

  it('shows the samples that are run', () => {
    const access = { url: 'https://otp.example.com', account_sid: 'AC…', service_sid: 'VA…' }
    expect(page).to.include(`\`\`\`js\n${twilioNodeSample(access)}\n\`\`\``)
    expect(page).to.include(`\`\`\`py\n${twilioPythonSample(access)}\n\`\`\``)
  })

  it('has every operation, and every error with its status', () => {
    for (const { method, path } of Object.values(TWILIO_OPERATIONS)) {
      const shown = path.slice(TWILIO_ROOT.length).replace('{service_sid}', '{VA…}').replace('{name}', '{VE… or To}')
      expect(page).to.include(`| \`${method.toUpperCase()} ${shown}\` |`)
    }
    const { method: _, ...errors } = TWILIO_ERRORS
    for (const { status, code } of Object.values(errors)) expect(page).to.include(`| ${status} | ${code} |`)
  })
})

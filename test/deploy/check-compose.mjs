// In: compose.yml as Docker Compose resolves it. Throws unless every service of ours is hardened, and no secret is in an environment.
import { readFileSync } from 'node:fs'
import process from 'node:process'

const SECRETS = ['MONGODB_URL', 'AMQP_URL', 'CODE_SECRETS', 'DATA_KEYS', 'ADMIN_TOKEN', 'METRICS_TOKEN']
const { services } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
for (const [name, service] of Object.entries(services)) {
  const faults = [
    service.cap_drop?.includes('ALL') ? [] : 'keeps capabilities',
    service.security_opt?.includes('no-new-privileges:true') ? [] : 'may gain privileges',
    service.image !== 'countersign' || service.read_only ? [] : 'can write to its root',
    service.privileged ? 'is privileged' : [],
    SECRETS.filter(variable => variable in (service.environment ?? {})).map(
      variable => `has ${variable} in its environment`,
    ),
  ].flat()
  if (faults.length > 0) throw new Error(`${name} ${faults.join(', ')}`)
}

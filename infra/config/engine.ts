// Which engines a process runs on: the real ones if both URLs are given, else the embedded ones. Production has to choose explicitly.
import type { SettingProblem } from './problems.ts'
import { splitUrls } from './values.ts'

export type Engine =
  | { readonly kind: 'embedded' }
  | {
      readonly kind: 'real'
      readonly mongodbUrl: string
      /** The broker's nodes, at least one. */
      readonly amqpUrls: readonly string[]
    }

interface EngineVariables {
  MONGODB_URL?: string | undefined
  AMQP_URL?: string | undefined
  ENGINE?: string | undefined
}

export function readEngine(
  variables: EngineVariables,
  { production, everyRole }: { production: boolean; everyRole: boolean },
): { engine: Engine; problems: SettingProblem[] } {
  const { MONGODB_URL: mongodbUrl, AMQP_URL: amqpUrl } = variables
  const embedded = (...problems: SettingProblem[]) => ({ engine: { kind: 'embedded' } as const, problems })

  if (variables.ENGINE && (mongodbUrl || amqpUrl))
    return embedded({ name: 'ENGINE', message: 'must not be set together with MONGODB_URL or AMQP_URL: choose one' })
  if (mongodbUrl && amqpUrl) return { engine: { kind: 'real', mongodbUrl, amqpUrls: splitUrls(amqpUrl) }, problems: [] }
  if (mongodbUrl)
    return embedded({ name: 'AMQP_URL', message: 'is missing: MONGODB_URL is set, and the two go together' })
  if (amqpUrl) return embedded({ name: 'MONGODB_URL', message: 'is missing: AMQP_URL is set, and the two go together' })
  if (production && !variables.ENGINE) {
    const message = 'is missing: production needs it; set ENGINE=embedded to run on the embedded engines on purpose'
    return embedded({ name: 'MONGODB_URL', message }, { name: 'AMQP_URL', message })
  }
  if (!everyRole) {
    const message = 'only some are named, and more than one process needs real engines: set MONGODB_URL and AMQP_URL'
    return embedded({ name: 'roles', message })
  }
  return embedded()
}

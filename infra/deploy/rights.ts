// What each role may do at MongoDB and at RabbitMQ, in one table. grant.ts makes users of it, and every test that runs the services holds
// them to it (test/support/role-rights.ts): a role that begins to use a collection fails there until the table says so.
//
// The roles `sweeper` and `dashboard` make what the others need: the sweeper the indexes and the queues, both of them
// the company of the console. The others wait for it. RabbitMQ knows no right to publish to one queue: all messages
// pass through its default exchange, so every role may publish to every queue of the virtual host. What is personal in
// a message is sealed.
import { DEFAULT_PREFIX, QUEUES, type Queue } from '../broker/topology.ts'
import type { Role } from '../config/roles.ts'

export const ACTIONS = ['find', 'insert', 'update', 'remove'] as const
export type Action = (typeof ACTIONS)[number]

interface RoleRights {
  /** The collections for each action. */
  mongodb: Readonly<Partial<Record<Action, string>>>
  /** The queues that it declares and consumes. */
  consumes: readonly Queue[]
}

const EVERY_ROLE: RoleRights['mongodb'] = {
  find: 'apps canaries companies write_probes',
  insert: 'canaries write_probes',
  update: 'canaries write_probes',
}

const EDGE: RoleRights['mongodb'] = {
  find: 'attempts joined_ids keys otps providers',
  insert: 'refusals',
  update: 'attempts keys',
}

const channel = (name: 'sms' | 'whatsapp' | 'telegram' | 'email'): RoleRights => ({
  mongodb: {
    find: 'attempts breakers channel_loads otps providers route_facts',
    insert: 'attempts breakers channel_loads sandbox_messages',
    update: 'attempts breakers channel_loads otps',
    remove: 'breakers channel_loads',
  },
  consumes: [`channel.${name}`, `channel.${name}.calls`],
})

const RIGHTS: Readonly<Record<Role, RoleRights>> = {
  edge: { mongodb: EDGE, consumes: [] },
  otp: {
    mongodb: {
      find: 'claims counters fraud_blocks fraud_networks fraud_numbers fraud_tallies ip_chunks ip_lists joined_ids ledger otps prices providers recipient_rules route_slots spent_challenges stats_days stats_hours webhooks',
      // It writes the audit log where a recipient asks for no more messages, and cannot read or change it.
      insert:
        'audit claims counters events fraud_blocks fraud_decisions fraud_networks fraud_numbers fraud_tallies joined_ids ledger metadata_indexes otps recipient_rules refusals route_slots spent_challenges stats_hours',
      update:
        'claims companies counters fraud_blocks fraud_networks fraud_numbers fraud_tallies otps recipient_rules route_slots spent_challenges stats_days stats_hours',
      remove: 'claims spent_challenges',
    },
    consumes: ['otp.calls', 'otp.reports'],
  },
  'channel:sms': channel('sms'),
  'channel:whatsapp': channel('whatsapp'),
  'channel:telegram': channel('telegram'),
  'channel:email': channel('email'),
  webhook: {
    mongodb: {
      find: 'events joined_ids otps webhooks',
      insert: 'events',
      update: 'events webhooks',
      remove: 'webhooks',
    },
    consumes: ['webhook.deliver'],
  },
  sweeper: {
    mongodb: {
      find: 'attempts breakers channel_loads claims counters deletions event_looks events fraud_blocks fraud_decisions fraud_networks fraud_numbers fraud_tallies ip_chunks ip_lists joined_ids keys leases ledger metadata_indexes notices otps passkeys providers recipient_rules refusals rotations route_facts route_outages route_slots sandbox_messages sessions stats_days stats_hours stats_progress users webhooks',
      insert:
        'apps claims companies counters deletions event_looks ip_chunks leases ledger notices recipient_rules rotations route_facts route_outages stats_days stats_hours stats_progress',
      update:
        'apps claims companies counters deletions event_looks events fraud_decisions ip_lists leases ledger metadata_indexes notices otps providers recipient_rules refusals rotations route_facts route_outages sandbox_messages stats_days stats_hours stats_progress users webhooks',
      remove:
        'apps attempts breakers claims companies counters events fraud_blocks fraud_decisions fraud_networks fraud_numbers fraud_tallies ip_chunks joined_ids keys leases metadata_indexes notices otps passkeys providers recipient_rules refusals route_facts route_slots sandbox_messages sessions stats_days stats_hours users webhooks',
    },
    // It declares all of them.
    consumes: QUEUES,
  },
  // It answers the client API too (services/main.ts), and applies BOOTSTRAP_FILE.
  dashboard: {
    mongodb: {
      find: `${EDGE.find} audit breakers channel_loads claims counters deletions erasures events fraud_blocks fraud_decisions fraud_numbers fraud_tallies invitation_times ip_chunks ip_lists known_browsers leases ledger metadata_indexes notices passkeys prices recipient_rules refusals rotations route_facts sandbox_messages sessions sign_in_flows sign_in_mails sign_in_tickets spent_assertions stats_days stats_hours stats_progress users webhooks`,
      insert:
        'apps audit companies counters erasures events invitation_times ip_chunks ip_lists keys known_browsers leases ledger passkeys prices providers refusals sessions sign_in_flows sign_in_mails sign_in_tickets spent_assertions stats_hours users webhooks',
      update:
        'apps audit companies counters events fraud_blocks invitation_times ip_lists keys known_browsers leases otps passkeys prices providers recipient_rules sessions sign_in_flows sign_in_mails stats_hours users webhooks',
      remove:
        'attempts claims counters fraud_decisions fraud_numbers ip_chunks ip_lists joined_ids leases metadata_indexes otps passkeys prices providers refusals sandbox_messages sessions sign_in_flows sign_in_tickets users',
    },
    consumes: [],
  },
}

const words = (text = ''): string[] => text.split(' ').filter(word => word !== '')

export const collectionsOf = (role: Role, action: Action): readonly string[] => [
  ...new Set([...words(EVERY_ROLE[action]), ...words(RIGHTS[role].mongodb[action])]),
]

/** The name of a role's user, and of its role at MongoDB. */
export const userOf = (role: Role): string => role.replace(':', '-')

interface Privilege {
  resource: { db: string; collection: string }
  actions: string[]
}

/** As MongoDB's `createRole` takes them. Every user may look which indexes there are; only the sweeper makes and drops them. */
export function mongoPrivileges(role: Role, db: string): Privilege[] {
  const names = [...new Set(ACTIONS.flatMap(action => collectionsOf(role, action)))].sort()
  const onAll = role === 'sweeper' ? ['listIndexes', 'createIndex'] : ['listIndexes']
  return [
    { resource: { db, collection: '' }, actions: onAll },
    ...names.map(collection => ({
      resource: { db, collection },
      actions: ACTIONS.filter(action => collectionsOf(role, action).includes(collection)),
    })),
  ]
}

/** RabbitMQ's three regular expressions. `amq.gen` is the queue of a readiness check, which RabbitMQ names itself. A
 *  queue comes with its wait queues and its dead letters; those of calls have neither. */
export function rabbitPermissions(role: Role): { configure: string; write: string; read: string } {
  const prefix = DEFAULT_PREFIX.replaceAll('.', '\\.')
  const own = RIGHTS[role].consumes.map(queue => `${prefix}\\.${queue.replaceAll('.', '\\.')}(\\.(wait\\..*|dead))?`)
  const anyOf = (...patterns: string[]): string => `^(${[...patterns, ...own, 'amq\\.gen.*'].join('|')})$`
  const deadLetters = role === 'dashboard'
  return {
    configure: anyOf(...(deadLetters ? [`${prefix}\\..*\\.dead\\.lock`] : [])),
    write: '^amq\\.default$',
    read: anyOf(...(deadLetters ? [`${prefix}\\..*\\.dead`] : [])),
  }
}

// Erasure and the rotation of data keys as the admin API answers them.
import { z } from 'zod'
import { timeSchema } from '../../domain/openapi/shared-schemas.ts'

const count = (description: string) => z.int().min(0).meta({ description })

export const erasure = z
  .object({
    verifications: count('Verifications that were erased.'),
    ended: count('Those of them that were pending.'),
    attempts: count('Provider calls.'),
    messages: count('Messages in the sandbox.'),
    events: count('Webhook events whose answers were erased.'),
    counters: count('Counters of limits, and the number’s history in the fraud guard.'),
    refusals: count('Refused sends and resends.'),
    decisions: count('Decisions of the fraud guard.'),
    idempotency_keys: count('Idempotency keys.'),
    blocks: count('Blocks of numbers of the fraud guard.'),
  })
  .meta({ id: 'Erasure', description: 'How many documents of each kind were erased.' })

const rotationState = z.enum(['waiting', 'running', 'done']).meta({
  id: 'RotationState',
  description: 'When it is `done`, all keys but the current one can be removed.',
})

const rotation = z
  .object({
    state: rotationState,
    current: z.string().optional().meta({ description: 'The id of the current data key.' }),
    pass: z.int().optional().meta({ description: 'Passes go through all documents until one finds nothing.' }),
    looked: z.int().optional().meta({ description: 'Documents of this pass.' }),
    renewed: z.int().optional().meta({ description: 'Those of them that were sealed anew.' }),
    unsealable: z.int().optional().meta({ description: 'Those whose key is missing.' }),
    renewed_in_all: z.int().optional().meta({ description: 'Documents of all passes that were sealed anew.' }),
    started_at: timeSchema('When the rotation began.').optional(),
    pass_started_at: timeSchema('When this pass began.').optional(),
    done_at: timeSchema('When it was done.').nullable().optional(),
  })
  .meta({ id: 'KeyRotation', description: 'The progress of a rotation. A waiting one has only its state.' })

export const privacy = z
  .object({
    data_keys: z.array(z.string()).meta({ description: 'The ids of DATA_KEYS, the current one first.' }),
    rotation: rotation.nullable().meta({ description: 'Null when there is nothing to rotate.' }),
  })
  .meta({ id: 'PrivacyState', description: 'The data keys and their rotation.' })

export type ErasureAnswer = z.output<typeof erasure>
export type RotationAnswer = z.output<typeof rotation>

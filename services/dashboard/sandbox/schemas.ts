// The sandbox as the admin API answers it.
import { z } from 'zod'
import { timeSchema } from '../../domain/openapi/shared-schemas.ts'
import { channel } from '../../domain/tenancy/value-schemas.ts'

const sandboxMessage = z
  .object({
    otp_id: z.string().meta({ description: 'The verification.' }),
    delivery_id: z.string().meta({ description: 'The message.' }),
    channel: channel.meta({ description: 'The channel it took.' }),
    recipient: z.string().meta({ description: 'The recipient in full.' }),
    text: z.string().meta({ description: 'The text of the message.' }),
    code: z.string().meta({ description: 'The code in it; empty where it asks a WhatsApp user for their number.' }),
    at: timeSchema('When it arrived.'),
  })
  .meta({ id: 'SandboxMessage', description: 'A message that the sandbox took in place of a vendor.' })

export const sandboxMessages = z
  .array(sandboxMessage)
  .meta({ id: 'SandboxMessages', description: 'The latest 100 messages, newest first.' })

export const accepted = z
  .object({ accepted: z.boolean().meta({ description: 'Always true.' }) })
  .meta({ id: 'Accepted', description: 'Accepted; work continues after the answer.' })

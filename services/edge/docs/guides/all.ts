// The guides, in the order of the page.
import { authentication } from './authentication.ts'
import { challenges } from './challenges.ts'
import { errors } from './errors.ts'
import { gettingStarted } from './getting-started.ts'
import type { Guide } from './guide.ts'
import { idempotency } from './idempotency.ts'
import { limits } from './limits.ts'
import { magicRecipients } from './magic-recipients.ts'
import { publishableKeys } from './publishable-keys.ts'
import { webhooks } from './webhooks.ts'

export const GUIDES: readonly Guide[] = [
  gettingStarted,
  authentication,
  publishableKeys,
  errors,
  idempotency,
  limits,
  challenges,
  webhooks,
  magicRecipients,
]

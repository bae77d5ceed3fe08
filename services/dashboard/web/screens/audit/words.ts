// A record of the audit log in words. In: its action, its caller and its values as the API names them. Out: what a person reads.
const ACTIONS: Readonly<Record<string, string>> = {
  'app.create': 'Created an app',
  'app.change': 'Changed an app',
  'app.delete': 'Deleted an app',
  'company.create': 'Created a company',
  'company.change': 'Changed a company',
  'company.delete': 'Deleted a company',
  'company.credit': 'Changed a balance',
  'dead_letters.drop': 'Dropped dead letters',
  'dead_letters.requeue': 'Requeued dead letters',
  'erasures.export': 'Exported the journal of erasures',
  'erasures.replay': 'Replayed the journal of erasures',
  'event.replay': 'Replayed an event',
  'events.replay': 'Replayed events',
  'ip_lists.change': 'Changed address lists',
  'key.create': 'Created a key',
  'key.rename': 'Renamed a key',
  'key.revoke': 'Revoked a key',
  'list.export': 'Exported a list',
  'prices.replace': 'Changed prices',
  'provider.create': 'Added a provider',
  'provider.change': 'Changed a provider',
  'provider.delete': 'Removed a provider',
  'provider.test': 'Tested a provider',
  'recipient.allow': 'Removed a STOP',
  'recipient.erase': 'Erased a person',
  'recipient.export': 'Exported a person’s data',
  'recipient.look_up': 'Looked a person up',
  'recipient.start': 'Asked for messages again (START)',
  'recipient.stop': 'Asked for no more messages (STOP)',
  'sandbox.play_message': 'Played a sandbox message',
  'passkey.create': 'Added a passkey',
  'passkey.delete': 'Removed a passkey',
  'session.step_up': 'Proved again who they are',
  'session.create': 'Signed in',
  'session.end': 'Ended a session',
  'session.end_all': 'Ended all sessions',
  'invitation.create': 'Invited a person',
  'invitation.change': 'Changed an invitation',
  'invitation.delete': 'Revoked an invitation',
  'invitation.accept': 'Accepted an invitation',
  'invitation.decline': 'Declined an invitation',
  'user.stamp': 'Stamped a user',
  'verification.cancel': 'Canceled a verification',
  'verification.resend': 'Sent a verification again',
  'webhook.create': 'Added a webhook endpoint',
  'webhook.change': 'Changed a webhook endpoint',
  'webhook.delete': 'Deleted a webhook endpoint',
  'webhook.enable': 'Re-enabled the webhook',
  'webhook.pause': 'Paused the webhook',
  'webhook.promote': 'Promoted a signing secret',
  'webhook.rotate': 'Made a signing secret',
  'hook.change': 'Changed a secret of the Supabase hook',
  'webhook.rotate_now': 'Replaced the signing secret at once',
  'webhook.test': 'Sent a test event',
}

export const KNOWN_ACTIONS: readonly string[] = Object.keys(ACTIONS)

/** A newer server may record an action that this page has no words for. */
export const actionWords = (action: string): string => ACTIONS[action] ?? action

export interface Who {
  name: string
  /** Null for an operator. */
  userId: string | null
}

/** A user is recorded as `usr_… (a****@example.com)`, an operator by the name of the token. */
export function whoOf(who: string): Who {
  const user = /^(usr_\w+)(?: \((.+)\))?$/.exec(who)
  if (!user) return { name: who, userId: null }
  const [, userId = who, email = userId] = user
  return { name: email, userId }
}

/** A person whom messages went to, and who wrote STOP or START. They have no account. */
const RECIPIENT = 'recipient'

/** What stands beside the name: the id of a user, or that it is an operator; null where the name says it already. */
export function besideName({ name, userId }: Who): string | null {
  if (name === RECIPIENT) return null
  const detail = userId ?? 'operator'
  return detail === name ? null : detail
}

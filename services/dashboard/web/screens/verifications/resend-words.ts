// What a resend does, before and after it. In: the verification. Out: sentences.
import type { History } from './delivery-words.ts'

export interface ResendWords {
  title: string
  text: string
  done: string
}

export function resendWords({
  action_url,
  masked_recipient,
  mode,
}: Pick<History, 'action_url' | 'masked_recipient' | 'mode'>): ResendWords {
  if (action_url !== null)
    return {
      title: 'Resend the same link?',
      text: `This verification waits for a WhatsApp message of ${masked_recipient}. Nothing is sent and nothing is charged: the link in the details stays valid, as it is. One send is used up, and the cooldown begins again.`,
      done: 'Nothing was sent: the link is the same.',
    }
  const price = mode === 'live' ? 'It costs what a message there costs.' : 'In test mode it costs nothing.'
  return {
    title: 'Send the code again?',
    text: `${masked_recipient} gets one more message: on the next usable channel of the order or, if none is left, on the last one again. ${price}`,
    done: 'The code was sent again.',
  }
}

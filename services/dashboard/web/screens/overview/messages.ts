// What became of messages, in words. In: figures. Out: the four outcomes, which add up to all messages, and the delivery rate.
import { formatShare } from '../../ui/figure-format.ts'
import { type Figures, hasNoReceipts } from './figures.ts'

export const MESSAGE_OUTCOMES: readonly { name: string; of(figures: Figures): number; isBad?: true }[] = [
  { name: 'Queued', of: ({ queued }) => queued },
  { name: 'Sent without receipt', of: ({ withoutReceipt }) => withoutReceipt },
  { name: 'Delivered', of: ({ delivered }) => delivered },
  { name: 'Failed', of: ({ messagesFailed }) => messagesFailed, isBad: true },
]

export const deliveryRateWords = (figures: Figures): string =>
  hasNoReceipts(figures) ? 'No receipts' : formatShare(figures.deliveryRate)

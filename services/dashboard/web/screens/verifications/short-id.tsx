// An id without its middle, which only programs need. The whole id is copied, and shown on hover.
import { CopyButton } from '../../ui/copy-button.tsx'

const LONGEST = 18
const KEPT_START = 9
const KEPT_END = 6

export function ShortId({ id }: { id: string }) {
  const short = id.length > LONGEST ? `${id.slice(0, KEPT_START)}…${id.slice(-KEPT_END)}` : id
  return (
    <span class="verifications-short-id">
      <code title={id}>{short}</code>
      <CopyButton text={id} />
    </span>
  )
}

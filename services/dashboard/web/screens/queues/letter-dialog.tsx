// One dead letter with its whole body. The list has only the beginning of a large one.
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { useQuery } from '../../data/use-query.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Fact } from '../../ui/fact.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'

export interface LetterDialogProps {
  queue: string
  /** As in the list. */
  letter: Schemas['DeadLetter']
  onClose(): void
}

export function LetterDialog({ queue, letter, onClose }: LetterDialogProps) {
  const { data, problem } = useQuery(`dead letter ${queue} ${letter.id}`, call =>
    bodyOf(api.GET('/admin/v1/queues/{queue}/dead/{id}', { params: { path: { queue, id: letter.id } }, ...call })),
  )
  const { id, at, reason, attempts, body } = data ?? letter
  return (
    <Dialog title="Dead letter" onClose={onClose} wide>
      <dl class="queues-letter">
        <Fact name="Message">
          <code>{id}</code>
        </Fact>
        <Fact name="Reason">{reason ?? 'not known'}</Fact>
        <Fact name="Attempts">{attempts ?? 'not known'}</Fact>
        <Fact name="Died">
          <Time at={at} none="not known" />
        </Fact>
      </dl>
      {problem?.status === 404 && <Notice>It was requeued or dropped meanwhile.</Notice>}
      <CodeBlock label="Body" text={JSON.stringify(body, null, 2)} />
      <p class="hint">Personal data in it is sealed, and stays so.</p>
    </Dialog>
  )
}

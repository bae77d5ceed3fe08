// Asks before something that cannot be undone.
import type { ComponentChildren } from 'preact'
import { useChange } from '../data/use-change.ts'
import { Button } from './button.tsx'
import { Actions, Dialog } from './dialog.tsx'
import { ProblemNotice } from './notice.tsx'

export interface ConfirmProps {
  title: string
  /** What will happen, in a sentence or two. */
  children: ComponentChildren
  /** The button's name says what it does, such as "Revoke key". */
  action: string
  perform(): Promise<void>
  onClose(): void
}

export function Confirm({ title, children, action, perform, onClose }: ConfirmProps) {
  const change = useChange()
  const confirm = async () => {
    if (await change.run(perform)) onClose()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="prose">{children}</div>
      {change.problem && <ProblemNotice problem={change.problem} />}
      <Actions>
        <Button look="danger" busy={change.busy} onClick={confirm}>
          {action}
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </Actions>
    </Dialog>
  )
}

// Asks before something that has consequences; most often it cannot be undone.
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
  /** `primary` where nothing is lost. */
  look?: 'danger' | 'primary'
  cancel?: string
  perform(): Promise<void>
  onClose(): void
}

export function Confirm(props: ConfirmProps) {
  const { title, children, action, look = 'danger', cancel = 'Cancel', perform, onClose } = props
  const change = useChange()
  const confirm = async () => {
    if (await change.run(perform)) onClose()
  }
  return (
    <Dialog title={title} busy={change.busy} onClose={onClose}>
      <div class="prose">{children}</div>
      {change.problem && <ProblemNotice problem={change.problem} />}
      <Actions>
        <Button look={look} busy={change.busy} onClick={confirm}>
          {action}
        </Button>
        <Button disabled={change.busy} onClick={onClose}>
          {cancel}
        </Button>
      </Actions>
    </Dialog>
  )
}

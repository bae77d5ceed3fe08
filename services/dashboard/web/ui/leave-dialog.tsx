// Asks before a screen is left whose changes are not saved. In: the warning, and how to save or discard the changes.
import type { LeaveWarning } from '../data/use-leave-warning.ts'
import { Button } from './button.tsx'
import { Actions, Dialog } from './dialog.tsx'

export interface LeaveDialogProps {
  warning: LeaveWarning
  /** Whether the changes are being saved. Until that has ended, it is too late for another choice. */
  busy: boolean
  /** Resolves to whether they were saved; else the viewer stays. */
  save(): Promise<boolean>
  discard(): void
}

export function LeaveDialog({ warning, busy, save, discard }: LeaveDialogProps) {
  if (warning.wanted === null) return null
  return (
    <Dialog title="Leave without saving?" busy={busy} onClose={warning.stay}>
      <p>What you changed on this screen is not saved yet.</p>
      <Actions>
        <Button
          look="primary"
          busy={busy}
          onClick={async () => {
            if (await save()) warning.leave()
            else warning.stay()
          }}
        >
          Save and leave
        </Button>
        <Button
          look="danger"
          disabled={busy}
          onClick={() => {
            discard()
            warning.leave()
          }}
        >
          Leave without saving
        </Button>
        <Button disabled={busy} onClick={warning.stay}>
          Stay
        </Button>
      </Actions>
    </Dialog>
  )
}

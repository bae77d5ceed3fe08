// Says that a screen has unsaved changes, saves or discards them, and asks before they are lost. It lies above the end
// of the window and has its place there from the start, so that the page does not move when it comes.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { nameElsewhere, nameOf, storedWords } from '../data/setting-words.ts'
import { useLeaveWarning } from '../data/use-leave-warning.ts'
import type { SettingsDraft } from '../data/use-settings-draft.ts'
import { Button } from './button.tsx'
import { Confirm } from './confirm.tsx'
import { LeaveDialog } from './leave-dialog.tsx'
import { Notice, ProblemNotice } from './notice.tsx'
import './save-bar.css'
import { useToast } from './toasts.tsx'

export interface SaveBarProps {
  draft: SettingsDraft
  /** Asked before the changes are saved; null when they need no question. */
  question?: { title: string; text: string; action: string } | null
  /** Beside the button that saves. */
  beside?: ComponentChildren
}

export function SaveBar({ draft, question = null, beside }: SaveBarProps) {
  const { isDirty, busy, problem } = draft
  const say = useToast()
  const warning = useLeaveWarning(isDirty)
  const [answer, setAnswer] = useState<((isYes: boolean) => void) | null>(null)

  async function save(): Promise<boolean> {
    if (!isDirty) return true
    if (answer) return false
    if (question && !(await new Promise<boolean>(resolve => setAnswer(() => resolve)))) return false
    const isSaved = await draft.save()
    if (isSaved) say('Saved. Every process uses it within 5 seconds.')
    return isSaved
  }

  useEffect(() => {
    // The first field that was refused.
    if (problem) document.querySelector<HTMLElement>('main [aria-invalid="true"]')?.focus()
  }, [problem])

  const latestSave = useRef(save)
  latestSave.current = save
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 's') return
      event.preventDefault()
      void latestSave.current()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])

  return (
    <div class="save-bar-place">
      {isDirty && (
        <section class="save-bar" aria-label="Unsaved changes">
          {draft.changedByOthers.length > 0 && <ChangedByOthers draft={draft} />}
          {problem && <Refusal draft={draft} />}
          <div class="save-bar-row">
            <p role="status">Unsaved changes</p>
            <div class="actions">
              <Button look="primary" busy={busy} aria-keyshortcuts="Control+S" onClick={save}>
                Save
              </Button>
              {beside}
              <Button disabled={busy} onClick={draft.discard}>
                Discard
              </Button>
            </div>
          </div>
        </section>
      )}
      {answer && question && (
        <Confirm
          title={question.title}
          action={question.action}
          perform={async () => answer(true)}
          onClose={() => {
            answer(false)
            setAnswer(null)
          }}
        >
          <p>{question.text}</p>
        </Confirm>
      )}
      <LeaveDialog warning={warning} busy={busy} save={save} discard={draft.discard} />
    </div>
  )
}

/** Own texts may be pages long. */
const MAX_SHOWN_CHARS = 200

const shortened = (text: string): string =>
  text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text

function ChangedByOthers({ draft: { changedByOthers } }: Pick<SaveBarProps, 'draft'>) {
  return (
    <Notice tone="warning">
      <p>Others have saved these settings since you began to edit them. To replace theirs with yours, save.</p>
      <ul class="save-bar-theirs">
        {changedByOthers.map(({ path, value }) => (
          <li key={path}>
            {nameOf(path)} (<code>{path}</code>) is now: {shortened(storedWords(path, value))}
          </li>
        ))}
      </ul>
    </Notice>
  )
}

/** Refusals stand beside their fields. Those of fields on another screen stand here. */
function Refusal({ draft: { problem, elsewhere, changedByOthers } }: Pick<SaveBarProps, 'draft'>) {
  if (problem === null) return null
  if (problem.status === 409 && changedByOthers.length > 0) return <p class="save-bar-refusal">Nothing was saved.</p>
  if (problem.fields.size === 0) return <ProblemNotice problem={problem} />
  return (
    <div class="save-bar-refusal" role="alert">
      <p>Nothing was saved.</p>
      {elsewhere.length === 0 ? (
        <p>The marked fields say what is wrong.</p>
      ) : (
        <ul>
          {elsewhere.map(({ path, message }) => (
            <li key={path}>
              {nameElsewhere(path)} {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
